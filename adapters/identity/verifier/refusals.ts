// What a caller is told when a token does not open the door: one sentence that says what to do. Nothing of the token is repeated, and
// no error of a library is carried along, because those hold the claims.
import { errors } from "jose";
import { Fault } from "../../../contracts/src/fault.ts";

const again = "log in again with `ctl auth login`";

/** The token is wrong, and trying it again will not help. */
function refused(sentence: string): Fault {
  return new Fault("UNAUTHENTICATED", sentence, { retry: "never" });
}

/** We cannot know whether the token is right; not knowing is never a yes. */
export function unavailable(sentence: string, reason: string): Fault {
  return new Fault("IDENTITY_UNAVAILABLE", sentence, { retry: "later", facts: { reason } });
}

export const refusals = {
  notAToken: () => refused(`this is not a token of ours: log in with \`ctl auth login\`, or check the service token`),
  ranOut: () => refused(`the token ran out: ${again}`),
  notYet: () => refused(`the token is not valid yet: check the clocks of this machine and of the issuer`),
  otherAudience: () => refused(`the token is meant for somebody else: ${again}, against this server`),
  otherIssuer: () => refused(`the token comes from an issuer that is not trusted here: ${again}, against this server`),
  otherKind: () => refused(`this kind of token is not accepted here: send the access token of a login`),
  algorithm: () => refused(`the token is signed in a way that is not accepted here: ${again}`),
  signature: () => refused(`the token's signature is wrong: ${again}`),
  unknownKey: () => refused(`the token is signed with a key that its issuer does not publish: ${again}`),
  withdrawnKey: () => refused(`the key that signed the token was withdrawn: ${again}`),
  incomplete: () =>
    refused(`the token lacks a claim that is needed (sub, iat, exp): ${again}, or ask the issuer's admin`),
  bound: () => refused(`the token is bound to a proof that cannot be checked here: ask the issuer for a bearer token`),
  noName: () =>
    refused("the token does not name its owner where identity.name_claim says: ask an admin to correct that setting"),
  revoked: () => refused(`the login has ended or was revoked: ${again}`),
  serviceUnknown: () => refused("this service token is not known: ask an admin for one (`ctl auth tokens issue`)"),
  serviceRanOut: () => refused("this service token ran out: ask an admin for a new one (`ctl auth tokens issue`)"),
  serviceRevoked: () => refused("this service token was revoked: ask an admin for a new one (`ctl auth tokens issue`)"),
  serviceNamedAsOurs: () =>
    refused(
      "this service token is called like a process of the platform: ask an admin for one of another name (`ctl auth tokens issue`)",
    ),
  platformRanOut: () =>
    refused("this token of our processes has ended, or is from the future: compare the clocks of the machines"),
  platformForged: () => refused("this is not a token of our processes: they take theirs from the secrets store"),
} as const;

const byClaim: Readonly<Record<string, () => Fault>> = {
  aud: refusals.otherAudience,
  iss: refusals.otherIssuer,
  nbf: refusals.notYet,
  typ: refusals.otherKind,
};

/** The refusal for what jose complained about; whatever it did not complain about is not a refusal and is handed on. */
export function refusalFor(thrown: unknown): unknown {
  if (thrown instanceof errors.JWTExpired) return refusals.ranOut();
  if (thrown instanceof errors.JWTClaimValidationFailed) {
    if (thrown.reason === "missing") return refusals.incomplete();
    return (byClaim[thrown.claim] ?? refusals.incomplete)();
  }
  if (thrown instanceof errors.JOSEAlgNotAllowed) return refusals.algorithm();
  if (thrown instanceof errors.JWSSignatureVerificationFailed) return refusals.signature();
  if (thrown instanceof errors.JWKSNoMatchingKey || thrown instanceof errors.JWKSMultipleMatchingKeys) {
    return refusals.unknownKey();
  }
  if (thrown instanceof errors.JOSEError) return refusals.notAToken();
  return thrown;
}
