// What is typed, once nobody has typed for a moment: each value is a call.
import { useEffect, useState } from "react";

const MOMENT_MS = 350;

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: by value
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), MOMENT_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}
