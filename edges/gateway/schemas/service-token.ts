// What the routes of machines' tokens take and answer. A token's value is in the answer that made it and nowhere else.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import { isLoginName } from "../../../contracts/src/foreign-events.ts";
import * as instant from "../../../contracts/src/instant.ts";
import { ownProcesses } from "../../../contracts/src/platform-services.ts";
import { idText } from "../../../contracts/src/records/fields.ts";
import { asItIs } from "../../../contracts/src/text/typed.ts";
import type { IssuedToken, ServiceToken } from "../../../ports/identity.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { actorText, operationName, reasonLine, timeText } from "./fields.ts";
import { proofText } from "./second-factor.ts";

const hourS = 3_600;
const dayS = 24 * hourS;

const tokenId = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "expected the id of a token");

const tokenName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "expected up to 64 lower-case letters, digits and . _ -")
  // Records name a machine by its token's name, so nobody may take the name of a part of the platform.
  .refine((name) => !(ownProcesses as readonly string[]).includes(name), {
    message: "expected another name: this one belongs to a part of the platform",
  })
  .meta({ description: "How the machine stands in records: `service:<name>`." });

const operationList = z
  .array(operationName)
  .min(1)
  .max(64)
  .refine((names) => new Set(names).size === names.length, { message: "expected each operation once" })
  .meta({ description: "What the token may do, by the names of the table of authority." });

const fundList = z
  .array(idText)
  .min(1)
  .max(64)
  .refine((names) => new Set(names).size === names.length, { message: "expected each fund once" })
  .meta({ description: "The funds that the token may speak of; every fund when absent." });

const loginList = z
  .array(
    asItIs(
      atMost(z.string().refine(isLoginName, { message: "expected 1 to 64 letters, digits, - and _" }), {
        characters: 256,
      }),
      "its rule lets through nothing else",
    ),
  )
  .min(1)
  .max(16)
  .refine((names) => new Set(names).size === names.length, { message: "expected each login once" })
  .meta({ description: "The logins of NATS that speak for the token: what they publish is its own." });

const expiresInS = z
  .int()
  .min(60)
  .max(366 * dayS)
  .meta({ description: "Seconds until it runs out: from a minute to 90 days; more is refused." });

export const tokensQuery = z.strictObject({
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many, 1,000 when absent; the next page is in the Link header." }),
  after: tokenId.optional().meta({ description: "Continue after this id, towards older ones." }),
});

export const tokenParams = z.strictObject({ token_id: tokenId });

export const revokeQuery = z.strictObject({ reason: reasonLine });

export const issueBody = z.strictObject({
  name: tokenName,
  operations: operationList,
  funds: fundList.optional(),
  nats_logins: loginList.optional(),
  expires_in_s: expiresInS,
  reason: reasonLine,
  step_up_proof: proofText.optional(),
});

export const rotateBody = z.strictObject({
  overlap_s: z
    .int()
    .min(0)
    .max(7 * dayS)
    .meta({ description: "Seconds for which the old token stays good, up to a week." }),
  expires_in_s: expiresInS,
  reason: reasonLine,
  step_up_proof: proofText.optional(),
});

export const serviceTokenAnswer = z.object({
  id: tokenId,
  name: z.string(),
  operations: z.array(operationName),
  funds: z.array(z.string()).optional().meta({ description: "The funds that it may speak of; absent for every fund." }),
  nats_logins: z.array(z.string()).optional().meta({ description: "The logins of NATS that speak for it." }),
  every_fund: z.boolean().optional().meta({ description: "Whether it may speak of every fund." }),
  created_by: actorText,
  created_at: timeText,
  expires_at: timeText,
  revoked_at: timeText.optional(),
  rotated_to: tokenId.optional().meta({ description: "The token that takes this one's place." }),
  cosigned_by: actorText.optional().meta({ description: "The second admin, where it took two." }),
  last_used_at: timeText.optional().meta({ description: "To about a minute; absent when it was never shown." }),
});

export const issuedTokenAnswer = serviceTokenAnswer.extend({
  token: z.string().meta({ description: "The token itself, shown now and never again." }),
});

export function serviceTokenJson(token: ServiceToken): z.infer<typeof serviceTokenAnswer> {
  return {
    id: token.id,
    name: token.name,
    operations: [...token.operations],
    ...(token.funds === undefined ? {} : { funds: [...token.funds] }),
    ...(token.natsLogins === undefined ? {} : { nats_logins: [...token.natsLogins] }),
    every_fund: token.funds === undefined,
    created_by: token.createdBy,
    created_at: instant.format(token.createdAt),
    expires_at: instant.format(token.expiresAt),
    ...(token.revokedAt === undefined ? {} : { revoked_at: instant.format(token.revokedAt) }),
    ...(token.rotatedTo === undefined ? {} : { rotated_to: token.rotatedTo }),
    ...(token.cosignedBy === undefined ? {} : { cosigned_by: token.cosignedBy }),
    ...(token.lastUsedAt === undefined ? {} : { last_used_at: instant.format(token.lastUsedAt) }),
  };
}

export function issuedTokenJson(token: IssuedToken): z.infer<typeof issuedTokenAnswer> {
  return { ...serviceTokenJson(token), token: token.token };
}
