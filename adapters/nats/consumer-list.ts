// The consumers of a durable subscription as the server lists them: their names, their numbers, and the place in the stream
// that their description records.
import type { ConsumerInfo } from "@nats-io/jetstream";
import type { NatsLink } from "./connect.ts";

/** Everything up to here is finished. The time shows later whether the stream still holds that very message. */
export interface Place {
  readonly sequence: number;
  /** Unknown where nobody has seen the message, for example before the first one. */
  readonly storedAtMs: number | undefined;
}

interface ListedGeneration {
  readonly number: number;
  readonly info: ConsumerInfo;
}

const placePattern = /^cursor (\d+)(?: stored (\d+))?$/;

export function placeText({ sequence, storedAtMs }: Place): string {
  return storedAtMs === undefined ? `cursor ${sequence}` : `cursor ${sequence} stored ${storedAtMs}`;
}

/** The recorded place of one of our consumers, and for a stranger's its acknowledgement floor. */
export function recordedPlace(info: ConsumerInfo): Place {
  const [, sequence, storedAtMs] = placePattern.exec(info.config.description ?? "") ?? [];
  if (sequence === undefined) return { sequence: info.ack_floor.stream_seq, storedAtMs: undefined };
  return { sequence: Number(sequence), storedAtMs: storedAtMs === undefined ? undefined : Number(storedAtMs) };
}

/** Writes how far everything is finished; trimming and the search for gaps go by it. */
export async function recordPlace(
  link: NatsLink,
  streamName: string,
  consumerName: string,
  place: Place,
): Promise<void> {
  await link.manager.consumers.update(streamName, consumerName, { description: placeText(place) });
}

/** All generations of a name, the newest last. */
export async function generationsOf(
  link: NatsLink,
  streamName: string,
  name: string,
): Promise<readonly ListedGeneration[]> {
  const prefix = generationName(name, "");
  const found: ListedGeneration[] = [];
  for await (const info of link.manager.consumers.list(streamName)) {
    const digits = info.name.startsWith(prefix) ? info.name.slice(prefix.length) : "";
    if (/^\d+$/.test(digits)) found.push({ number: Number(digits), info });
  }
  return found.sort((one, other) => one.number - other.number);
}

export function generationName(name: string, number: number | ""): string {
  return `${consumerToken(name)}-g${number}`;
}

/** Deletes every generation, so that the name begins anew and no longer holds back trimming. */
export async function forgetGenerations(link: NatsLink, streamName: string, name: string): Promise<void> {
  for (const { info } of await generationsOf(link, streamName, name)) {
    await deleteConsumer(link, streamName, info.name);
  }
}

/** A consumer that is already gone is what we wanted. */
export async function deleteConsumer(link: NatsLink, streamName: string, consumerName: string): Promise<void> {
  await link.manager.consumers.delete(streamName, consumerName).catch((thrown: unknown) => {
    if (!isNotFound(thrown)) throw thrown;
  });
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Error && /consumer not found/i.test(thrown.message);
}

/** Consumer names may hold neither dots nor spaces; every other name gets one of its own. */
function consumerToken(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/g, (character) =>
    character === "." ? "_" : `=${character.codePointAt(0)?.toString(16) ?? ""}=`,
  );
}
