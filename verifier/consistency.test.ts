// The offline verifier judges proofs of consistency: every attack on them, single bits, and the command line.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { consistencyAttacks } from "../testkit/audit/attacks/consistency.ts";
import { fifty, first } from "../testkit/audit/attacks/shape.ts";
import { loadVerifier, run, verifierFile, wanted } from "../testkit/audit/run-attack.ts";
import { checkpointOf } from "../testkit/audit/test-log.ts";

const verifier = await loadVerifier();
const folder = mkdtempSync(join(tmpdir(), "audit-consistency-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each(consistencyAttacks.map((attack) => [attack.name, attack] as const))("%s", async (_, attack) => {
  expect(await run(verifier, attack)).toBe(wanted(attack));
});

describe("at the command line", () => {
  const honest = consistencyAttacks.find(({ name }) => name === "consistency: honest 20 to 50");
  const file = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const proof = file("consistency.json", honest?.bytes ?? "");
  const kept = file("kept.checkpoint", checkpointOf(fifty, 20, [first]));
  const other = file("other.checkpoint", checkpointOf(fifty, 21, [first]));
  const command = (...parameters: readonly string[]) =>
    new Promise<{ code: number; text: string }>((resolve) => {
      execFile(process.execPath, [fileURLToPath(verifierFile), ...parameters], (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), text: `${out}${err}` }),
      );
    });

  test("says yes with both sizes, and no with exit 10", async () => {
    const yes = await command(proof, "--first", kept, "--vkey", first.vkey);
    expect(yes).toMatchObject({ code: 0, text: expect.stringMatching(/^YES {2}L1: the log has only grown/) });
    expect(yes.text).toMatch(/from size +20\n {2}to size +50\n/);
    const no = await command(proof, "--first", other, "--vkey", first.vkey, "--json");
    expect(no.code).toBe(10);
    expect(JSON.parse(no.text)).toMatchObject({ verdict: "no", code: "PROOF_INVALID", sequence: 21 });
  });

  test("asks for the checkpoint that was kept, and says which file cannot be read", async () => {
    expect(await command(proof, "--second", kept)).toMatchObject({ code: 2, text: expect.stringContaining("--first") });
    expect(await command(proof, "--first", join(folder, "none"))).toMatchObject({ code: 1 });
  });
});
