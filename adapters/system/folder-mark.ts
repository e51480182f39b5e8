// What tells the processes of one data folder on one machine from those of every other: the same after each start, and different for a copy elsewhere.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

const markDigits = 16;

export function folderMark(folder: string): string {
  const parts = [hostname(), machineId(), folder];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, markDigits);
}

/** Machines of one image may share their name; few share this as well. */
function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    // Not every system has one; then the name has to do.
    return "";
  }
}
