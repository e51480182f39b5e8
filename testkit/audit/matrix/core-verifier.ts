// The core's verifier behind the same face as the offline one, so that one table of attacks and one stream of random cases can ask both.
import { readUtf8 } from "../../../core/audit/base64.ts";
import type { Refused } from "../../../core/audit/fault.ts";
import { type Policy, readPolicy } from "../../../core/audit/policy.ts";
import { readVerifierKey, type VerifierKey } from "../../../core/audit/signed-note.ts";
import { verifyTlogProof } from "../../../core/audit/tlog-proof.ts";
import { sha256, verifySignature } from "../keys.ts";
import { nowS, type Trust, type Verdict } from "../test-log.ts";
import { type BundleOptions, verifyBundleFile } from "../verify-bundle.ts";

const proofStart = Buffer.from("c2sp.org/tlog-proof@v1\n");

function coreOptions({ vkeys = [], policy, origin }: Trust): BundleOptions {
  return {
    trustedKeys: vkeys.map(keyOf),
    policy: policy === undefined ? undefined : policyOf(policy),
    origin,
    sha256,
    verifySignature,
    nowUs: nowS * 1_000_000,
  };
}

function keyOf(vkey: string): VerifierKey {
  const key = readVerifierKey(vkey, sha256);
  if (key === undefined) throw new Error(`${vkey} is not a key`);
  return key;
}

function policyOf(text: string): Policy {
  const policy = readPolicy(text, sha256);
  if ("malformed" in policy) throw new Error(policy.malformed);
  return policy;
}

/** As `verifyBytes` of the offline verifier: the first line says what the file is. */
export function verifyWithCore(bytes: Uint8Array, trust: Trust): Verdict {
  const options = coreOptions(trust);
  const isProof = proofStart.compare(bytes.subarray(0, proofStart.length)) === 0;
  return isProof ? proofVerdict(bytes, options) : verdictOf(verifyBundleFile(bytes, options));
}

function proofVerdict(bytes: Uint8Array, options: BundleOptions): Verdict {
  // Who reads a file that is not UTF-8 has no text to hand over.
  const content = readUtf8(bytes) ?? "";
  return verdictOf(verifyTlogProof(content, options));
}

function verdictOf(result: { readonly level: string } | Refused): Verdict {
  return "fault" in result ? { verdict: "no", ...result.fault } : { verdict: "yes", level: result.level };
}
