// A name for what a request makes, from its Idempotency-Key: the same request under the same key makes the same thing, whatever died in between.
import { createHash } from "node:crypto";
import type { HttpRequest } from "../../ports/http.ts";

/** Undefined without a key. Another caller or another body has another name. */
export function keyedName({
  idempotency,
  identity,
  body,
}: Pick<HttpRequest, "idempotency" | "identity" | "body">): string | undefined {
  if (idempotency === undefined) return undefined;
  const named = JSON.stringify([identity?.subject, idempotency.path, idempotency.key, body]);
  return `key-${createHash("sha256").update(named).digest("hex").slice(0, 32)}`;
}
