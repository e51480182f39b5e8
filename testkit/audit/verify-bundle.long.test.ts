// A1 in full on a bundle: every bit of every byte of a log of 50 entries, header included, is found, and found where it is.
import { expect, it } from "vitest";
import { sha256, verifySignature } from "./keys.ts";
import { bytesOf, firstSigner, sampleLog } from "./sample-log.ts";
import { verifyBundleFile } from "./verify-bundle.ts";

it("A1: any one bit of a bundle of 50 entries", () => {
  const options = { trustedKeys: [firstSigner.key], sha256, verifySignature, nowUs: 1_794_735_000_000_000 };
  const bytes = bytesOf(sampleLog(50).bundle({ from: 0, entries: 50, size: 50 }));
  expect(verifyBundleFile(bytes, options)).toMatchObject({ level: "L1", entries: 50 });
  // The line that a byte is in, counting the line feed to the line that it ends; entries begin with the third.
  let line = 0;
  const missed: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const kept = bytes[at] ?? 0;
    for (let bit = 0; bit < 8; bit += 1) {
      bytes[at] = kept ^ (1 << bit);
      const verdict = verifyBundleFile(bytes, options);
      const isFound = "fault" in verdict && (line < 2 || verdict.fault.sequence === line - 2);
      if (!isFound) missed.push(`byte ${at} bit ${bit}: ${JSON.stringify(verdict).slice(0, 200)}`);
    }
    bytes[at] = kept;
    if (kept === 0x0a) line += 1;
  }
  expect(missed).toEqual([]);
  expect(line).toBe(52);
});
