// A caller who asks again for what it has, and says so by its tag, is told that it has not changed instead of being sent it anew (RFC 9110, 13.1.2).
import type { HttpAnswer } from "../../../ports/http.ts";

/** Tags may stand in a list, and be marked as weak by somebody in between; a star is any. */
export function isNotModified(answer: HttpAnswer, ifNoneMatch: string | readonly string[] | undefined): boolean {
  const etag = answer.headers?.["etag"];
  if (etag === undefined || typeof ifNoneMatch !== "string" || answer.status !== 200) return false;
  return ifNoneMatch.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === etag);
}
