// What the routes of people and of requests that a second admin signs take and answer. A password is in the answer that made it and nowhere else.
import { z } from "zod";
import * as instant from "../../../contracts/src/instant.ts";
import { lineText } from "../../../contracts/src/records/fields.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import type { IdentityRequest, Requested } from "../../../ports/identity.ts";
import type { ChangedOperator, Cosigned, Operator } from "../../../ports/operators.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { actorText, operationName, timeText } from "./fields.ts";
import { proofText } from "./second-factor.ts";
import { issuedTokenAnswer, issuedTokenJson } from "./service-token.ts";

const newName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "expected up to 64 lower-case letters, digits and . _ -")
  .meta({ description: "How the person logs in and stands in records: `operator:<name>`." });

const personName = lineText(200).min(1).meta({ description: "The person's name, without `operator:`." });

/** Any text: a role that nobody has is refused by whoever knows the list. */
const roleList = z
  .array(asItIs(lineText(64), "names what exists"))
  .max(16)
  .meta({ description: "viewer, operator, risk_officer, admin: those that the person shall have, and no other." });

const reason = typed(lineText(500).min(1)).meta({ description: "Why, in your words; it stands in the record." });
const requestId = z.string().regex(/^[0-9a-f-]{8,64}$/, "expected the id of a request");

export const operatorsQuery = z.strictObject({
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many, 1,000 when absent; the next page is in the Link header." }),
  after: personName.optional().meta({ description: "Continue after this name." }),
});

export const operatorParams = z.strictObject({ name: personName });
export const requestParams = z.strictObject({ request_id: requestId });

const proved = { reason, step_up_proof: proofText.optional() };

export const addOperatorBody = z.strictObject({ name: newName, roles: roleList, ...proved });
export const operatorRolesBody = z.strictObject({ roles: roleList, ...proved });
export const disableOperatorBody = z.strictObject({
  keep_tokens: z
    .boolean()
    .optional()
    .meta({ description: "Let the machines' tokens that they gave alone go on working; else those end too." }),
  ...proved,
});
export const resetFactorBody = z.strictObject(proved);
export const acceptBody = z.strictObject(proved);
export const acceptParams = z.strictObject({
  change_id: z
    .string()
    .regex(/^[0-9a-f]{16}$/, "expected the id of a change")
    .meta({ description: "As the list of changes without an event shows it." }),
});
export const cosignBody = z.strictObject({ step_up_proof: proofText.optional() });

export const operatorAnswer = z.object({
  name: z.string(),
  roles: z.array(z.string()),
  state: z.enum(["active", "disabled"]),
  development: z.boolean().meta({ description: "Made by a start outside production, for trying things out." }),
  created_at: timeText,
  disabled_at: timeText.optional(),
  disabled_by: actorText.optional(),
  second_factor_since: timeText.optional().meta({ description: "Absent for somebody without a second factor." }),
});

const passwordText = z.string().meta({ description: "Of a new person, shown now and never again." });

export const changedOperatorAnswer = operatorAnswer.extend({
  password: passwordText.optional(),
  revoked_tokens: z
    .array(z.string())
    .optional()
    .meta({ description: "The machines' tokens that ended with a disabled person." }),
  kept_tokens: z
    .array(z.string())
    .optional()
    .meta({ description: "Those that they asked for or signed and that go on working." }),
});

export const requestAnswer = z.object({
  request_id: requestId,
  operation: operationName,
  target: z.string().meta({ description: "The person, machine or token that it is about." }),
  parameters: z.record(z.string(), z.unknown()).meta({ description: "Exactly what is signed." }),
  requested_by: actorText,
  reason: z.string(),
  requested_at: timeText,
  expires_at: timeText,
});

/** Of what is not done yet: another admin has to sign. */
export const requestedAnswer = requestAnswer.extend({
  password_half: z
    .string()
    .optional()
    .meta({ description: "The first half of a new person's password; the admin who signs gets the second." }),
});

export const cosignedAnswer = requestAnswer.extend({
  cosigned_by: actorText,
  operator: operatorAnswer.optional(),
  password_half: z.string().optional().meta({ description: "The second half of a new person's password." }),
  token: issuedTokenAnswer.optional(),
});

export function operatorJson(operator: Operator): z.infer<typeof operatorAnswer> {
  const { disabledAt, disabledBy, factorSince } = operator;
  return {
    name: operator.name,
    roles: [...operator.roles],
    state: disabledAt === undefined ? "active" : "disabled",
    development: operator.isDevelopment,
    created_at: instant.format(operator.createdAt),
    ...(disabledAt === undefined ? {} : { disabled_at: instant.format(disabledAt) }),
    ...(disabledBy === undefined ? {} : { disabled_by: disabledBy }),
    ...(factorSince === undefined ? {} : { second_factor_since: instant.format(factorSince) }),
  };
}

export function changedJson(changed: ChangedOperator): z.infer<typeof changedOperatorAnswer> {
  const { operator, password, revokedTokens, keptTokens } = changed;
  return {
    ...operatorJson(operator),
    ...(password === undefined ? {} : { password }),
    ...(revokedTokens === undefined ? {} : { revoked_tokens: [...revokedTokens] }),
    ...(keptTokens === undefined ? {} : { kept_tokens: [...keptTokens] }),
  };
}

export function requestJson(request: IdentityRequest): z.infer<typeof requestAnswer> {
  return {
    request_id: request.requestId,
    operation: request.operation,
    target: request.target,
    parameters: { ...request.parameters },
    requested_by: request.requestedBy,
    reason: request.reason,
    requested_at: instant.format(request.at),
    expires_at: instant.format(request.expiresAt),
  };
}

export function requestedJson({ request, passwordHalf }: Requested): z.infer<typeof requestedAnswer> {
  return { ...requestJson(request), ...(passwordHalf === undefined ? {} : { password_half: passwordHalf }) };
}

export function cosignedJson(signed: Cosigned): z.infer<typeof cosignedAnswer> {
  const { request, cosignedBy, operator, passwordHalf, token } = signed;
  return {
    ...requestJson(request),
    cosigned_by: cosignedBy,
    ...(operator === undefined ? {} : { operator: operatorJson(operator) }),
    ...(passwordHalf === undefined ? {} : { password_half: passwordHalf }),
    ...(token === undefined ? {} : { token: issuedTokenJson(token) }),
  };
}
