import { expect, test } from "vitest";
import { DatabaseError } from "../../src/engine/database/database.js";
import { isConnectionLost } from "../../src/engine/database/lost_connection.js";
import { sendTrouble } from "../../src/worker/finish/trouble.js";

const of = (code: string) => sendTrouble(new DatabaseError(code, "said no"));

test("what a failed call means is told by its SQLSTATE alone", () => {
  for (const code of ["08006", "08003"]) expect(of(code)).toBe("connection");
  for (const code of ["22P02", "23514", "54000", "FF002", "FF004"]) expect(of(code)).toBe("content");
  for (const code of ["42883", "42501", "57014", "XX000", "40P01"]) expect(of(code)).toBe("other");
  expect(of("FF007")).toBe("stale");
  expect(sendTrouble(new TypeError("not of the database"))).toBe("other");
  expect(sendTrouble(null)).toBe("other");
});

test("a lost connection is told from a pool that was closed and from a refusal", () => {
  const lost = (code: string) => isConnectionLost(new DatabaseError(code, "said no"));
  for (const code of ["08006", "08001", "57P01", "57P03", "53300", "25006"]) expect(lost(code)).toBe(true);
  for (const code of ["08003", "57014", "42883", "FF001"]) expect(lost(code)).toBe(false);
  expect(isConnectionLost(null)).toBe(false);
});
