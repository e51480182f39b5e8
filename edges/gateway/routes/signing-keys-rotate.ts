// A new key for the tokens of the embedded provider. With your own issuer the keys are its business, and the answer says so.
import type { Route } from "../../../ports/http.ts";
import { denied } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { rotateSigningKeysAnswer, rotateSigningKeysBody } from "../schemas/identity.ts";

const confirmationWord = "ROTATE";

export function signingKeysRotate(parts: Pick<GatewayParts, "signingKeys" | "login">): Route {
  return defineRoute({
    id: "rotateSigningKeys",
    method: "POST",
    path: "/v1/auth/signing-keys/rotate",
    listeners: ["operator"],
    sentence: "Replace the key that signs tokens.",
    operation: "RotateSigningKeys",
    body: rotateSigningKeysBody,
    answers: { 200: rotateSigningKeysAnswer },
    handle: async (request) => {
      const caller = callerOf(request);
      if (parts.signingKeys === undefined) {
        const reason = `Tokens here are signed by ${parts.login.issuer()}: rotate its keys there.`;
        return denied({ denial: { code: "SIGNING_KEYS_EXTERNAL", reason } });
      }
      if (request.body.retire === "at_once" && request.body.confirmation !== confirmationWord) {
        const reason = `This logs everybody out. Type ${confirmationWord} to confirm. Nothing was replaced.`;
        return denied({ denial: { code: "CONFIRMATION_WRONG", reason } });
      }
      const retire = request.body.retire === "at_once" ? "at once" : "after overlap";
      const { keyId } = await parts.signingKeys.rotate(caller, retire, request.body.reason);
      return { status: 200, body: { key_id: keyId } };
    },
  });
}
