// What a proof of the second factor for a document of reference data names.
import { createHash } from "node:crypto";
import { parseJson } from "../contracts/src/parse-json.ts";
import { canonicalText } from "../contracts/src/text/canonical-text.ts";
import type { NamedAction } from "../ports/identity.ts";
import { referenceAction } from "../services/reference/prove-loosening.ts";

interface Sent {
  readonly kind: string;
  readonly version: number;
  readonly content_json: string;
  readonly reason: string;
}

/** Of what is no JSON there is no hash, and nothing to prove. */
export function referenceActionOf({ content_json: text, reason, ...sent }: Sent): NamedAction {
  const hash = createHash("sha256").update(textOf(text)).digest("hex");
  return referenceAction({ ...sent, reason: reason.trim() }, hash);
}

function textOf(json: string): string {
  try {
    return canonicalText(parseJson(json));
  } catch {
    return "";
  }
}
