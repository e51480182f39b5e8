// What belongs to the platform alone: the names of its actions, and the members of data that it writes. Whoever appends from outside may use none of
// them, nor anything that only looks like one of them, so that an entry that reads as the platform's is the platform's.
import { auditActions, unreadActions } from "../../../../contracts/src/audit-actions.ts";
import type { Denial } from "../../../../contracts/src/codes.ts";
import { Fault } from "../../../../contracts/src/fault.ts";
import { ownActions } from "../../../../contracts/src/state-changes.ts";
import { actorCharactersMax } from "../../../../core/audit/entry-layout.ts";
import { genesisAction } from "../../../../core/audit/genesis.ts";
import { revokedAction, rotatedAction } from "../../../../core/audit/key-ring.ts";
import type { AuditWish } from "./sequencer.ts";

/** The sequence of the newest earlier entry about the same subject, or null. */
export const subjectPrevious = "subject_previous";
/** Whom a caller named as the actor, when that is not who proved to be calling. */
export const claimedActor = "claimed_actor";
export const keyDestroyedAction = "subject.key_destroyed";
export const verifiedAction = "chain.verified";
export const auditActor = "service:operations";

const fixedData: ReadonlySet<string> = new Set([genesisAction, rotatedAction, revokedAction, keyDestroyedAction]);

/** Whether the format says exactly what the data of such an entry is: then nothing is added to it. */
export function hasFixedData(action: string): boolean {
  return fixedData.has(action);
}

/** Refuses what only the audit service itself may append. */
export function refuseReserved({ action, data, at }: AuditWish): void {
  const isOurs = action.startsWith("chain.") || action.startsWith("key.") || action === keyDestroyedAction;
  if (isOurs) throw invalid(`The action ${JSON.stringify(action.slice(0, 128))} is the audit log's own.`);
  if (Object.hasOwn(data, subjectPrevious)) throw invalid(`${subjectPrevious} in the data is the audit log's own.`);
  if (at !== undefined && Object.hasOwn(data, "at")) throw invalid("The data says `at` by itself: give it once.");
}

/** Lower-case ASCII words: `note.made`, `order.placed`, `desk-book.closed_early`. */
const outsideAction = /^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/;
const actionCharactersMax = 128;
const wordBreak = /[._-]/g;

const platformActions: readonly string[] = [
  ...Object.values(auditActions).flatMap((rule) => ("action" in rule ? [rule.action] : [])),
  ...Object.keys(ownActions),
  ...Object.keys(unreadActions),
];
/** With one kind of break: `order_decided` and `order-decided` read as `order.decided` does. */
const platformNames: ReadonlySet<string> = new Set(platformActions.map(withDots));
/** Programs outside the platform handle orders too, and have more to say of them than the platform has names for. */
const sharedFamilies: ReadonlySet<string> = new Set(["order", "fill"]);
const platformFamilies: ReadonlySet<string> = new Set(
  [...platformNames].map(familyOf).filter((family) => !sharedFamilies.has(family)),
);

/** What the platform writes into the data of entries, its own and those that it makes of events; and whatever it calls a claim. */
const platformMembers: ReadonlySet<string> = new Set([
  subjectPrevious,
  "at",
  "event_id",
  "payload",
  "source",
  "subject",
]);
const claimBegins = "claimed_";

/** Control and format characters, line breaks, fillers, and spaces that are not the space: two texts that differ only in them look alike. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
export const unseenCharacters = new RegExp(unseen, "gu");

function withDots(action: string): string {
  return action.replaceAll(wordBreak, ".");
}

function familyOf(name: string): string {
  return name.slice(0, name.search(/\.|$/));
}

/** What somebody outside the platform wants to append. */
export interface OutsideWish extends Pick<AuditWish, "action" | "subjectId" | "data"> {
  /** Whom they name as the actor; empty when nobody. */
  readonly claimed: string;
}

/** Refuses what no caller may append; denies what only the platform writes. */
export function denyPlatformNames({ action, subjectId, data, claimed }: OutsideWish): Denial | undefined {
  if (action.length > actionCharactersMax || !outsideAction.test(action)) {
    throw invalid(
      `An action has 1 to ${actionCharactersMax} characters: lower-case ASCII words with dots, underscores or hyphens between them, such as note.made.`,
    );
  }
  refuseUnseen("subject_id", subjectId);
  refuseUnseen("actor", claimed);
  if (claimed.length > actorCharactersMax) throw invalid(`An actor has at most ${actorCharactersMax} characters.`);
  const name = withDots(action);
  if (platformNames.has(name) || platformFamilies.has(familyOf(name))) {
    return reserved(`The action ${action} is the platform's own: choose a name of your own, such as note.made.`);
  }
  const taken = Object.keys(data).find((member) => platformMembers.has(member) || member.startsWith(claimBegins));
  return taken === undefined ? undefined : reserved(`The platform writes ${taken} into the data: name it otherwise.`);
}

function refuseUnseen(field: string, text: string): void {
  const found = unseen.exec(text)?.[0];
  if (found !== undefined) {
    const code = `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    throw invalid(`${field} has a character that cannot be seen (${code}): leave it away.`);
  }
  if (text.trim() !== text) throw invalid(`${field} begins or ends with a space: leave it away.`);
}

function reserved(reason: string): Denial {
  return { code: "AUDIT_NAME_RESERVED", reason };
}

export function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}
