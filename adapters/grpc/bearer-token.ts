// The token of a call: `authorization: Bearer <token>`, once, in the characters that RFC 6750 allows, and not without end. Whatever
// else a caller sends there is refused with a sentence that repeats nothing of it.
import type { Metadata } from "@grpc/grpc-js";
import { Fault } from "../../contracts/src/fault.ts";
import { tokenForm, tokenLengthMax } from "../listener/bearer-form.ts";

export const authorizationHeader = "authorization";

const scheme = /^bearer (?=\S)/i;

/** Throws UNAUTHENTICATED. */
export function bearerToken(metadata: Metadata): string {
  const values = metadata.get(authorizationHeader);
  const [value] = values;
  if (value === undefined)
    throw unauthenticated("This call needs a login: send the metadata authorization: Bearer TOKEN.");
  if (values.length > 1) throw unauthenticated("The metadata authorization was sent more than once.");
  const text = String(value);
  if (!scheme.test(text)) throw unauthenticated("The metadata authorization must read: Bearer TOKEN.");
  const token = text.slice("bearer ".length);
  if (token.length > tokenLengthMax) throw unauthenticated(`The token has more than ${tokenLengthMax} characters.`);
  if (!tokenForm.test(token)) throw unauthenticated("The token has characters that no token has.");
  return token;
}

function unauthenticated(sentence: string): Fault {
  return new Fault("UNAUTHENTICATED", sentence, { retry: "never" });
}
