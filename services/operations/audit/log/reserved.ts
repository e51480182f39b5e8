// What belongs to the platform alone: the names of its actions, and the members of data that it writes. Whoever appends from outside may use none of
// them, nor anything that only looks like one of them, so that an entry that reads as the platform's is the platform's.
import { auditActions, ownActions, unreadActions } from "../../../../contracts/src/audit-actions.ts";
import type { Denial } from "../../../../contracts/src/codes.ts";
import { Fault } from "../../../../contracts/src/fault.ts";
import { actionCharactersMax, actorCharactersMax } from "../../../../core/audit/entry-layout.ts";
import { genesisAction } from "../../../../core/audit/genesis.ts";
import { revokedAction, rotatedAction } from "../../../../core/audit/key-ring.ts";
import type { AppendRequest } from "./append-request.ts";
import { likeness } from "./likeness.ts";

/** The sequence of the newest earlier entry about the same subject, or null. */
export const subjectPrevious = "subject_previous";
/** Whom a caller named as the actor, when that is not who proved to be calling. */
export const claimedActor = "claimed_actor";
export const keyDestroyedAction = "subject.key_destroyed";
export const verifiedAction = "chain.verified";
/** Entry 1 of a log that follows another. */
export const begunAnewAction = "chain.begun_anew";
export const auditActor = "service:operations";

const fixedData: ReadonlySet<string> = new Set([genesisAction, rotatedAction, revokedAction, keyDestroyedAction]);

/** Whether the format says exactly what the data of such an entry is: then nothing is added to it. */
export function hasFixedData(action: string): boolean {
  return fixedData.has(action);
}

/** Refuses what only the audit service itself may append. */
export function refuseReserved({ action, data, at }: AppendRequest): void {
  const isOurs = action.startsWith("chain.") || action.startsWith("key.") || action === keyDestroyedAction;
  if (isOurs) throw invalid(`The action ${JSON.stringify(action.slice(0, 128))} is the audit log's own.`);
  if (Object.hasOwn(data, subjectPrevious)) throw invalid(`${subjectPrevious} in the data is the audit log's own.`);
  if (at !== undefined && Object.hasOwn(data, "at")) throw invalid("The data says `at` by itself: give it once.");
}

const platformActions: readonly string[] = [
  ...Object.values(auditActions).flatMap((rule) => ("actions" in rule ? rule.actions : [])),
  ...Object.keys(ownActions),
  ...Object.keys(unreadActions),
];
/** As they read: `Order_Decided`, `order decided` and `\u043erder-decided` do as `order.decided` does. */
const platformNames: ReadonlySet<string> = new Set(platformActions.map((action) => withDots(likeness(action))));
/** Programs outside the platform handle orders too, and have more to say of them than the platform has names for. */
const sharedFamilies: ReadonlySet<string> = new Set(["order", "fill"].map(familyOf));
const platformFamilies: ReadonlySet<string> = new Set(
  platformActions.map(familyOf).filter((family) => !sharedFamilies.has(family)),
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

/** Words are what stands between letters and digits. */
function withDots(seen: string): string {
  return seen.replaceAll(/[^\p{L}\p{N}]+/gu, ".").replaceAll(/^\.|\.$/g, "");
}

/** The first word, up to whatever is no letter, digit or space: a sentence such as "key account called" is no name of the family `key`. */
function familyOf(action: string): string {
  const [first = ""] = likeness(action).split(/[^\p{L}\p{N} ]/u, 1);
  return first.trim();
}

/** What somebody outside the platform wants to append. */
interface OutsideRequest extends Pick<AppendRequest, "action" | "subjectId" | "data"> {
  /** Whom they name as the actor; empty when nobody. */
  readonly claimed: string;
}

/** Refuses what no caller may append; denies what only the platform writes. */
export function denyPlatformNames({ action, subjectId, data, claimed }: OutsideRequest): Denial | undefined {
  refuseAction(action);
  refuseUnseen("subject_id", subjectId);
  refuseUnseen("actor", claimed);
  if (claimed.length > actorCharactersMax) throw invalid(`An actor has at most ${actorCharactersMax} characters.`);
  if (platformNames.has(withDots(likeness(action))) || platformFamilies.has(familyOf(action))) {
    return reserved(`The action ${action} is or reads as the platform's own: choose another name, such as note.made.`);
  }
  const taken = Object.keys(data).find((member) => platformMembers.has(member) || member.startsWith(claimBegins));
  return taken === undefined ? undefined : reserved(`The platform writes ${taken} into the data: name it otherwise.`);
}

/** Printable: letters, marks, digits, punctuation and symbols of any script, and the space between them, in the form that Unicode calls NFC. */
function refuseAction(action: string): void {
  // Twice as many units as characters at most: whatever is longer need not be counted.
  const isLong = action.length > 2 * actionCharactersMax || [...action].length > actionCharactersMax;
  if (action === "" || isLong)
    throw invalid(`An action has 1 to ${actionCharactersMax} characters, such as note.made.`);
  refuseUnseen("action", action);
  const found = /[\p{Cs}\p{Co}\p{Cn}]/u.exec(action)?.[0];
  if (found !== undefined)
    throw invalid(`action has a character that is not printable (${codeOf(found)}): leave it away.`);
  if (action.normalize("NFC") !== action) {
    throw invalid("action is not in Unicode's composed form (NFC), so that it reads as another one: compose it.");
  }
}

function refuseUnseen(field: string, text: string): void {
  const found = unseen.exec(text)?.[0];
  if (found !== undefined) {
    throw invalid(`${field} has a character that cannot be seen (${codeOf(found)}): leave it away.`);
  }
  if (text.trim() !== text) throw invalid(`${field} begins or ends with a space: leave it away.`);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function reserved(reason: string): Denial {
  return { code: "AUDIT_NAME_RESERVED", reason };
}

export function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}
