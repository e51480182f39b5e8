// The declaration of an event, once: its subject, the schema of its payload, the key within which order is kept, who may publish it and what the audit
// log says of it. Documents, the table of publishers and the audit log's actions are made from the list of these.
import type { z } from "zod";
import type { Whose } from "../ownership/whose.ts";
import { isOwnSource, platformServices, type StoreProcess } from "../platform-services.ts";
import { personalFieldsOf } from "../records/fields.ts";
import type { Delivery, Subject } from "../subject.ts";

/** The part of an event that decides about its entry. */
export interface AuditedEvent {
  readonly subject: string;
  readonly key: string;
  /** The publishing service, or "foreign". */
  readonly source: string;
  readonly payload: unknown;
  /** Set when nobody could read it. */
  readonly unread?: { readonly kind: "unknown subject" | "malformed" };
}

export interface AuditedAs {
  /** Every action that an event of the subject may become; nearly always one. */
  readonly actions: readonly string[];
  actionOf(payload: unknown): string;
  subjectIdOf(payload: unknown): string;
  /** As proved: a payload is believed about its actor only when one of our own services wrote it. */
  actorOf(event: AuditedEvent): string;
  /** Members of the payload that are about a person: sealed under that person's key before they are hashed. */
  readonly personal: readonly string[];
  /** Whom those are about. */
  personOf(payload: unknown): string;
}

interface NotAudited {
  /** Why, in one sentence. */
  readonly notAudited: string;
}

export type AuditRule = AuditedAs | NotAudited;

/** What programs outside the platform do is recorded under this name, whatever they say in the payload. */
export const foreignActor = "foreign";

/** Which of several actions an event becomes, from what it says. */
export interface OneOf<Payload> {
  readonly actions: readonly string[];
  of(payload: Payload): string;
}

/** The entry that an event becomes. */
interface Entry<Payload> {
  /** A promise to whoever searches the log: it may be added, never renamed. */
  readonly action: string | OneOf<Payload>;
  about(payload: Payload): string;
  /** Who did it, as one of our own services wrote it; without it, or without an answer, whoever published. */
  by?(payload: Payload): string | undefined;
}

/** An event as it is declared. */
interface Declaration<Payload> {
  readonly subject: string;
  readonly schema: z.ZodType<Payload>;
  key(payload: NoInfer<Payload>): string;
  /** Durable unless it says otherwise. */
  readonly delivery?: Delivery;
  readonly sentence: string;
  readonly publishers: readonly StoreProcess[];
  /** Of what programs outside publish too: whose that must be which it names. What only we publish is its publishers'. */
  readonly whose?: readonly Whose[];
  readonly audit: Entry<NoInfer<Payload>> | NotAudited;
}

export interface DeclaredEvent<Payload> extends Subject<Payload> {
  readonly publishers: readonly StoreProcess[];
  readonly whose: readonly Whose[];
  readonly audit: AuditRule;
}

export function event<Payload>(declared: Declaration<Payload>): DeclaredEvent<Payload> {
  const { subject: name, schema, sentence, delivery = "durable", publishers, whose = [], audit } = declared;
  const rule = "notAudited" in audit ? audit : auditedAs(schema, audit);
  return { name, schema, key: declared.key, sentence, delivery, publishers, whose, audit: rule };
}

function auditedAs<Payload>(schema: z.ZodType<Payload>, { action, about, by }: Entry<Payload>): AuditedAs {
  // The bus hands over only what matched the schema; asking again costs more than it could find.
  const payloadOf = (payload: unknown): Payload => payload as z.infer<typeof schema>;
  return {
    actions: typeof action === "string" ? [action] : action.actions,
    actionOf: typeof action === "string" ? () => action : (payload) => action.of(payloadOf(payload)),
    subjectIdOf: (payload) => about(payloadOf(payload)),
    actorOf(event) {
      const publisher = publisherOf(event);
      // What a program outside says of who did it is a claim, also where it proved its own name.
      if (by === undefined || !isOwnSource(event.source)) return publisher;
      return named(by(payloadOf(event.payload))) ?? publisher;
    },
    personal: personalFieldsOf(schema),
    personOf: (payload) => about(payloadOf(payload)),
  };
}

export function publisherOf({ source }: AuditedEvent): string {
  return source === foreignActor ? foreignActor : `service:${source}`;
}

/** Records name people and services with their kind; a bare name is a service's. */
function named(actor: string | undefined): string | undefined {
  if (actor === undefined || actor === "") return undefined;
  return actor.includes(":") ? actor : `service:${actor}`;
}

/** Somebody who was not yet known to be who they say. */
export function principal(of: { readonly principal: string }): string {
  return of.principal.includes(":") ? of.principal : `principal:${of.principal}`;
}

export const firm = "firm";
export const byOrder = (of: { readonly order_id: string }): string => of.order_id;
export const byFund = (of: { readonly fund_id: string }): string => of.fund_id;
export const aboutScope = (of: { readonly fund_id: string; readonly strategy_id?: string | undefined }): string =>
  of.strategy_id ?? (of.fund_id === "" ? firm : of.fund_id);
/** In the audit log; on the bus a service is its key by its bare name. */
export const aboutService = (of: { readonly service: string }): string => `service:${of.service}`;
export const aboutWatched = (of: { readonly watchdog: string; readonly fund_id?: string | undefined }): string =>
  of.fund_id ?? of.watchdog;
export const operator = (of: { readonly operator: string }): string => of.operator;
export const requestedBy = (of: { readonly requested_by: string }): string => of.requested_by;
export const actor = (of: { readonly actor?: string | undefined }): string | undefined => of.actor;

export const byService = (of: { readonly service: string }): string => of.service;
/** Halts are one sequence of epochs over the whole firm, so all of them share one key. */
export const byFirm = (): string => "firm";

export const everyService: readonly StoreProcess[] = platformServices;
export const watchdogs: readonly StoreProcess[] = ["operations"];
