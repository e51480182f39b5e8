// What the routes about a caller's own identity, other people's sessions and the signing keys take and answer.
import { z } from "zod";
import { asItIs } from "../../../contracts/src/text/typed.ts";
import { actorText, confirmed, effectiveWithinMs, operationName, reasonLine, roleName, timeText } from "./fields.ts";

export const identityAnswer = z.object({
  actor: actorText,
  kind: z.enum(["operator", "service"]),
  name: z.string(),
  roles: z.array(roleName),
  operations: z
    .array(operationName)
    .optional()
    .meta({ description: "What a machine's token is narrowed to; absent when the roles alone decide." }),
  funds: z
    .array(z.string())
    .optional()
    .meta({ description: "The funds that a machine's token may speak of; absent for every fund, and for people." }),
  issuer: z.string(),
  issued_at: timeText,
  expires_at: timeText,
  second_factor: z
    .object({
      enrolled_at: timeText.nullable(),
      recovery_codes_left: z.int().min(0),
      locked_until: timeText.nullable(),
    })
    .nullable()
    .meta({ description: "A person's second factor; null for a machine, which has none." }),
});

/** Nothing to say; an empty object is what many clients send then. */
export const logOutBody = z.strictObject({}).optional();

const endedAnswer = z.object({ effective_within_ms: effectiveWithinMs });

export const logOutAnswer = endedAnswer.extend({
  device_logins: z
    .array(
      z.object({
        session_id: z.string(),
        program: z.string().meta({ description: "What asked to be let in, as it called itself." }),
        address: z.string().meta({ description: "From where it asked." }),
        approved_at: timeText,
        expires_at: timeText,
      }),
    )
    .meta({
      description:
        "Logins of `ctl` that were approved in the browser that logged out. They go on: log out there, or end every login of the person.",
    }),
});

export const revokeSessionsAnswer = endedAnswer.extend({
  known: z
    .boolean()
    .nullable()
    .meta({ description: "Whether there is such a person; null when only another issuer could tell." }),
});

export const revokeSessionsBody = z.strictObject({
  actor: asItIs(
    z.string().regex(/^operator:[^\p{Cc}\u2028\u2029]{1,200}$/u, "expected operator:<name>"),
    "names what exists",
  ).meta({ description: "The person as records name them: `operator:<name>`." }),
  reason: reasonLine,
});

export const rotateSigningKeysBody = z.strictObject({
  retire: z.enum(["after_overlap", "at_once"]).meta({
    description:
      "after_overlap lets tokens that were signed before run out; at_once refuses them from now on, and everybody logs in again.",
  }),
  confirmation: confirmed("ROTATE", "with at_once"),
  reason: reasonLine,
});

export const rotateSigningKeysAnswer = z.object({
  key_id: z.string().meta({ description: "The key that signs from now on." }),
});
