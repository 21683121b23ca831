// Light, dark, or as the system has it; kept in the browser.
import { useSyncExternalStore } from "react";

export type ThemeChoice = "light" | "dark" | "system";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
const key = "fanfold.theme";

function read(): ThemeChoice {
  try {
    const kept = localStorage.getItem(key);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

let choice = read();

function shown(): "light" | "dark" {
  if (choice !== "system") return choice;
  return system.matches ? "dark" : "light";
}

function apply(): void {
  document.documentElement.dataset.theme = shown();
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  apply();
  system.addEventListener("change", apply);
}

export function chooseTheme(next: ThemeChoice): void {
  choice = next;
  try {
    localStorage.setItem(key, next);
  } catch {
    // A browser that keeps nothing still shows it.
  }
  apply();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): "light" | "dark" {
  return useSyncExternalStore(listen, shown);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(listen, () => choice);
}
