// How an attack is run against a verifier, and how its answer is compared; shared by the tests.
import type { Attack } from "./attacks/shape.ts";
import { nowS, type Verdict, type Verifier } from "./test-log.ts";

export const verifierFile = new URL("../../verifier/audit-verify.js", import.meta.url);

export const loadVerifier = async (url: URL = verifierFile): Promise<Verifier> => (await import(url.href)) as Verifier;

/** One line that says everything the attack asks about, so that a difference reads well. */
export const wanted = ({ answer, sequence, says }: Attack): string =>
  /^(L[0-2]|usage)$/.test(answer) ? `${answer} ${says}` : `${answer} at ${sequence} ${says}`;

export function got(result: Verdict | Error, { says }: Attack): string {
  if (result instanceof Error) {
    const kind = result.constructor.name === "UsageError" ? "usage" : `${result.constructor.name} ${result.message}`;
    return `${kind} ${result.message.includes(says) ? says : result.message}`;
  }
  if (result.verdict === "yes") return `${result.level} ${says}`;
  const said = String(result.expected);
  return `${result.code} at ${result.sequence} ${said.includes(says) ? says : said}`;
}

export async function run(verifier: Verifier, attack: Attack): Promise<string> {
  const bytes = Buffer.from(attack.bytes);
  const result = await verifier.verifyBytes(bytes, { ...attack.trust, nowS }).catch((error: unknown) => error as Error);
  return got(result, attack);
}
