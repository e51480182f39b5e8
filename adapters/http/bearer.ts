// The token in a request's Authorization header, read strictly: one header, one scheme, the characters that RFC 6750 allows. What
// does not fit is told apart from nothing at all, because a caller who sent something wants to know what was wrong with it.
import type { IncomingMessage } from "node:http";
import { tokenForm, tokenLengthMax } from "../listener/bearer-form.ts";

export type Shown =
  | { readonly kind: "nothing" }
  /** `bearer` says whether a bearer token was meant, so that the answer can call it invalid. */
  | { readonly kind: "malformed"; readonly bearer: boolean; readonly complaint: string }
  | { readonly kind: "token"; readonly token: string };

const bearerScheme = /^bearer(?: +(?<token>.*))?$/is;

const malformed = (bearer: boolean, complaint: string): Shown => ({ kind: "malformed", bearer, complaint });

/** Looks at the headers as they came: Node keeps the first of two Authorization headers and drops the other unseen. */
export function shownBy(raw: Pick<IncomingMessage, "rawHeaders">): Shown {
  const values = raw.rawHeaders.filter((_, at) => at % 2 === 1 && isAuthorization(raw.rawHeaders[at - 1]));
  const [value] = values;
  if (value === undefined) return { kind: "nothing" };
  if (values.length > 1) {
    return malformed(values.some(isBearer), "A request must carry at most one Authorization header.");
  }
  const match = bearerScheme.exec(value);
  if (match === null) return malformed(false, "The Authorization header must be of the scheme Bearer.");
  const token = match.groups?.["token"] ?? "";
  if (token.length > tokenLengthMax) {
    return malformed(true, `A token is at most ${tokenLengthMax} characters long.`);
  }
  if (!tokenForm.test(token)) return malformed(true, "What follows Bearer in the Authorization header is not a token.");
  return { kind: "token", token };
}

function isAuthorization(name: string | undefined): boolean {
  return name?.toLowerCase() === "authorization";
}

function isBearer(value: string): boolean {
  return bearerScheme.test(value);
}

/** RFC 6750 and RFC 9728: what is wrong, and where to read how to log in. */
export function challenge(baseUrl: string, tokenWasSent: boolean): string {
  const metadata = `resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`;
  return tokenWasSent ? `Bearer error="invalid_token", ${metadata}` : `Bearer ${metadata}`;
}
