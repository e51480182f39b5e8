// What the platform tells about itself: its processes, its bus, its configuration, its alarms and the people who operate it.
import { z } from "zod";
import {
  countNumber,
  factsRecord,
  hashText,
  idText,
  instantText,
  lineText,
  nameText,
  personal,
  reasonText,
} from "./fields.ts";

/** One running process of a service; a restarted one is a new incarnation. */
export const serviceEvent = z.object({
  service: nameText,
  incarnation: nameText,
  host: nameText,
  pid: countNumber,
  at: instantText,
});

/** An event that a subscription could not handle and that was put aside. */
export const parkedEvent = z.object({
  /** The durable name of the subscription. */
  subscription: nameText,
  event_id: z.string(),
  subject: z.string(),
  /** The message of the last failure, cut to a bearable length by whoever reports it. */
  error: z.string(),
  attempts: countNumber,
  /** HELD: it carries money, and what follows it in its lane waits. Absent means PARKED. */
  state: z.enum(["PARKED", "HELD"]).optional(),
  lane: z.string().optional(),
});
export type ParkedEvent = z.infer<typeof parkedEvent>;

/** An event that was put aside was tried again. */
export const retriedEvent = z.object({
  subscription: nameText,
  event_id: z.string(),
  subject: z.string(),
  /** DONE: it was handled, and is gone. */
  outcome: z.enum(["DONE", "FAILED"]),
  /** Why it failed. */
  error: z.string().optional(),
  /** Who asked for it and why; absent when the subscription tried by itself. */
  asked_by: nameText.optional(),
  reason: reasonText.optional(),
  at: instantText,
});

/** Somebody decided that an event that was put aside is never handled. */
export const discardedEvent = z.object({
  subscription: nameText,
  event_id: z.string(),
  subject: z.string(),
  /** PARKED or HELD: what it was. */
  state: z.enum(["PARKED", "HELD"]),
  /** The last failure. */
  error: z.string(),
  /** SHA-256 of its payload, which stays in the database. */
  payload_hash: hashText,
  discarded_by: nameText,
  reason: reasonText,
  at: instantText,
});

/** An alarm from anywhere in the platform; its code is in the registry. */
export const alarmRaised = z.object({
  code: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  level: z.enum(["warning", "critical"]),
  service: nameText,
  sentence: reasonText,
  facts: factsRecord.optional(),
  at: instantText,
});
export type AlarmRaised = z.infer<typeof alarmRaised>;

/** A key of the configuration has another value than at the last start. What is confidential is reported as changed, without its value. */
export const configurationChanged = z.object({
  /** The first of the parts that were started with it. */
  service: nameText,
  /** `log.level`; `*` for the first start of all, which has no values before it. */
  path: nameText,
  /** Absent when the key had no value before. */
  old_value: lineText(1_000).optional(),
  /** Absent when the key has no value any more. */
  new_value: lineText(1_000).optional(),
  /** Whether the values are not shown because they may be confidential. */
  redacted: z.boolean(),
  actor: nameText,
  at: instantText,
});
export type ConfigurationChanged = z.infer<typeof configurationChanged>;

/** A secret got a new version. Never its value. */
export const secretChanged = z.object({
  path: lineText(512).min(1),
  version: countNumber,
  actor: nameText,
  /** It was found to have changed without a report: who did it is not known, and the actor is the one who noticed. */
  noticed: z.literal(true).optional(),
  at: instantText,
});

/** Somebody logged in, logged out or was refused. */
export const sessionEvent = z.object({
  /** The operator or client that was named, known to us or not. */
  principal: nameText,
  session_id: idText.optional(),
  method: z.enum(["password", "totp", "webauthn", "oidc", "token"]),
  /** Why it was refused, as a code of the registry. */
  code: z.string().optional(),
  remote_address: personal(nameText.optional()),
  /** Who ended it and why, when it was not its owner. */
  actor: nameText.optional(),
  reason: reasonText.optional(),
  at: instantText,
});

/** A person who may log in at the embedded provider was made, changed or removed. */
export const operatorChanged = z.object({
  /** `operator:<name>`. */
  operator: nameText,
  change: z.enum(["made", "changed", "removed", "disabled", "restored"]),
  roles: z.array(nameText),
  actor: nameText,
  /** The second admin, where it took two. */
  cosigned_by: nameText.optional(),
  request_id: idText.optional(),
  reason: reasonText.optional(),
  at: instantText,
});
export type OperatorChanged = z.infer<typeof operatorChanged>;

/** A person's second factor was set up, replaced or used up. */
export const factorChanged = z.object({
  /** `operator:<name>`, as authenticated. */
  operator: nameText,
  factor: z.enum(["totp", "recovery_codes", "webauthn"]),
  change: z.enum(["begun", "enrolled", "replaced", "moved", "recovery_code_used", "removed"]),
  /** Who took it away, when it was not its owner. */
  actor: nameText.optional(),
  cosigned_by: nameText.optional(),
  request_id: idText.optional(),
  reason: reasonText.optional(),
  at: instantText,
});
export type FactorChanged = z.infer<typeof factorChanged>;

/** A second factor was asked for one named action. The parameters are reported by hash: they may be confidential. */
export const stepUpEvent = z.object({
  operator: nameText,
  action: nameText,
  parameters_hash: hashText,
  factor: z.enum(["totp", "recovery_code", "webauthn"]).optional(),
  /** Why it was refused, as a code of the registry. */
  code: z.string().optional(),
  at: instantText,
});
export type StepUpEvent = z.infer<typeof stepUpEvent>;

/** A machine got, changed or lost its token. Never its value. */
export const serviceTokenChanged = z.object({
  token_id: idText,
  name: nameText,
  change: z.enum(["issued", "rotated", "revoked"]),
  operations: z.array(nameText),
  /** The funds that it may speak of; absent for every fund. */
  funds: z.array(idText).optional(),
  /** The logins of NATS that speak for it. */
  nats_logins: z.array(idText).optional(),
  expires_at: instantText,
  actor: nameText,
  /** The second admin, where it took two. */
  cosigned_by: nameText.optional(),
  request_id: idText.optional(),
  reason: reasonText.optional(),
  at: instantText,
});

/** An admin asked for a change of a person or a machine's token that a second admin has to sign. */
export const identityRequested = z.object({
  request_id: idText,
  /** What is asked for, by its name in the table of authority. */
  operation: nameText,
  /** The person, machine or token that it is about. */
  target: nameText,
  /** What the person shall have. */
  roles: z.array(nameText).optional(),
  /** What the machine may do. */
  operations: z.array(nameText).optional(),
  /** The funds that the machine may speak of; absent for every fund. */
  funds: z.array(idText).optional(),
  /** The logins of NATS that shall speak for the machine. */
  nats_logins: z.array(idText).optional(),
  requested_by: nameText,
  reason: reasonText,
  expires_at: instantText,
  at: instantText,
});

/** Such a request was signed, or can no longer be. */
export const identityRequestEnded = z.object({
  request_id: idText,
  operation: nameText,
  target: nameText,
  outcome: z.enum(["signed", "expired", "void"]),
  requested_by: nameText,
  /** The second admin who signed, or whoever's deed ended it. */
  ended_by: nameText,
  at: instantText,
});
export type IdentityRequestEnded = z.infer<typeof identityRequestEnded>;

/** The key that signs tokens was made, replaced or withdrawn. */
export const signingKeyChanged = z.object({
  key_id: nameText,
  change: z.enum(["made", "retired", "refused"]),
  actor: nameText,
  reason: reasonText.optional(),
  at: instantText,
});
export type SigningKeyChanged = z.infer<typeof signingKeyChanged>;

/** An operator tried a state-changing verb, allowed or not. */
export const operatorAttempted = z.object({
  /** `operator:<name>`, as authenticated. */
  operator: nameText,
  verb: nameText,
  /** The fund, strategy, order or request it was aimed at; empty for the whole firm. */
  target: z.string(),
  /** The path of the request, where the target is what the request was about. */
  place: lineText(200).optional(),
  allowed: z.boolean(),
  /** Why not, as a code of the registry. */
  code: z.string().optional(),
  reason: reasonText,
  at: instantText,
});
export type OperatorAttempted = z.infer<typeof operatorAttempted>;
