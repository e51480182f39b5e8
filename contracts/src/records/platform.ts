// What the platform tells about itself: its processes, its bus, its configuration, its alarms and the people who operate it.
import { z } from "zod";
import { countNumber, factsRecord, idText, instantText, nameText, reasonText } from "./fields.ts";

/** One running process of a service; a restarted one is a new incarnation. */
export const serviceEvent = z.object({
  service: nameText,
  incarnation: nameText,
  host: nameText,
  pid: countNumber,
  at: instantText,
});
export type ServiceEvent = z.infer<typeof serviceEvent>;

/** An event that a subscription could not handle and that was put aside. */
export const parkedEvent = z.object({
  /** The durable name of the subscription. */
  subscription: nameText,
  event_id: z.string(),
  subject: z.string(),
  /** The message of the last failure, cut to a bearable length by whoever reports it. */
  error: z.string(),
  attempts: countNumber,
});
export type ParkedEvent = z.infer<typeof parkedEvent>;

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

/** A key of the configuration changed; what it is now is told by hash, because a value may be confidential. */
export const configurationChanged = z.object({
  service: nameText,
  path: nameText,
  value_hash: z.string(),
  actor: nameText,
  at: instantText,
});
export type ConfigurationChanged = z.infer<typeof configurationChanged>;

/** A secret got a new version. Never its value. */
export const secretChanged = z.object({ path: nameText, version: countNumber, actor: nameText, at: instantText });
export type SecretChanged = z.infer<typeof secretChanged>;

/** Somebody logged in, logged out or was refused. */
export const sessionEvent = z.object({
  /** The operator or client that was named, known to us or not. */
  principal: nameText,
  session_id: idText.optional(),
  method: z.enum(["password", "totp", "webauthn", "oidc", "token"]),
  /** Why it was refused, as a code of the registry. */
  code: z.string().optional(),
  remote_address: nameText.optional(),
  at: instantText,
});
export type SessionEvent = z.infer<typeof sessionEvent>;

/** An operator tried a state-changing verb, allowed or not. */
export const operatorAttempted = z.object({
  /** `operator:<name>`, as authenticated. */
  operator: nameText,
  verb: nameText,
  /** The fund, strategy, order or request it was aimed at; empty for the whole firm. */
  target: z.string(),
  allowed: z.boolean(),
  /** Why not, as a code of the registry. */
  code: z.string().optional(),
  reason: reasonText,
  at: instantText,
});
export type OperatorAttempted = z.infer<typeof operatorAttempted>;
