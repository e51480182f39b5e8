// The one stream that carries every durable event. It refuses new messages when it is full instead of forgetting old
// ones, so that nothing is lost without a word; it is trimmed by rule (trim.ts), never by age alone.
import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { byEveryLogin } from "../../contracts/src/foreign-events.ts";
import { everySubject } from "../../contracts/src/subjects.ts";
import { requireServer } from "./capabilities.ts";
import type { NatsLink } from "./connect.ts";

export interface StreamOptions {
  /** Default PORTCULLIS. */
  readonly name?: string;
  /** Every durable subject, as one pattern. */
  readonly subjects: readonly string[];
  /** Default 2 GiB. */
  readonly bytesMax?: number;
  /** How long the server notices a repeated id; at least two minutes. */
  readonly duplicateWindowMs?: number;
  /** 3 in a cluster; default 1. */
  readonly replicas?: number;
  readonly compression?: "none" | "s2";
}

/** What programs outside publish below prefixes of their own. A stream of before there were any lacks it: nobody of ours may change it. */
export const byLogins = byEveryLogin(everySubject);

const gibibyte = 1_073_741_824;
const duplicateWindowMsMin = 120_000;
const streamNotFound = 10_059;

export function streamName(options: StreamOptions): string {
  return options.name ?? "PORTCULLIS";
}

interface FoundStream {
  /** Whether it takes what logins publish below their prefixes; one of before does not. */
  readonly takesLogins: boolean;
}

/** Creates the stream or checks the one that is there; settings that would lose events are a Fault that names them. */
export async function ensureStream(link: NatsLink, options: StreamOptions): Promise<FoundStream> {
  requireServer(link.server(), options.compression === "s2" ? ["stream_compression"] : []);
  const name = streamName(options);
  const wanted = wantedConfig(options);
  const found = await link.manager.streams.info(name).catch((thrown: unknown) => {
    if (thrown instanceof JetStreamApiError && thrown.code === streamNotFound) return undefined;
    throw unavailable(name, thrown);
  });
  const needed = { ...wanted, subjects: [...options.subjects] };
  if (found !== undefined) {
    checkStream(name, found.config, needed);
    return { takesLogins: found.config.subjects.includes(byLogins) };
  }
  const made = await link.manager.streams.add(wanted).catch((thrown: unknown) => {
    // Two processes may start at once: the loser's request is an update that changes nothing, or an error worth telling.
    throw unavailable(name, thrown);
  });
  checkStream(name, made.config, needed);
  return { takesLogins: made.config.subjects.includes(byLogins) };
}

function wantedConfig(options: StreamOptions): Partial<StreamConfig> & { name: string; subjects: string[] } {
  const windowMs = Math.max(options.duplicateWindowMs ?? duplicateWindowMsMin, duplicateWindowMsMin);
  return {
    name: streamName(options),
    description: "Durable events of Portcullis; published by the outbox relay.",
    subjects: [...options.subjects, byLogins],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_bytes: options.bytesMax ?? 2 * gibibyte,
    max_age: 0,
    max_msgs: -1,
    duplicate_window: nanos(windowMs),
    num_replicas: options.replicas ?? 1,
    deny_delete: true,
    ...(options.compression === "s2" ? { compression: StoreCompression.S2 } : {}),
  };
}

/** Only what could lose or misplace events is compared; limits and replicas are the operator's business. */
function checkStream(name: string, found: StreamConfig, wanted: Partial<StreamConfig>): void {
  const wrong: string[] = [];
  if (found.retention !== RetentionPolicy.Limits) wrong.push(`retention is ${found.retention}, not limits`);
  if (found.storage !== StorageType.File) wrong.push(`storage is ${found.storage}, not file`);
  if (found.discard !== DiscardPolicy.New) wrong.push(`discard is ${found.discard}, not new`);
  if (found.max_age !== 0) wrong.push("max_age would remove events that nobody has read yet");
  if (found.max_msgs_per_subject > 0) wrong.push("max_msgs_per_subject would remove events that nobody has read yet");
  if (found.no_ack === true) wrong.push("no_ack leaves a publisher without an answer");
  if (found.duplicate_window < nanos(duplicateWindowMsMin)) wrong.push("duplicate_window is shorter than two minutes");
  for (const subject of wanted.subjects ?? []) {
    if (!found.subjects.includes(subject)) wrong.push(`subjects lacks ${subject}`);
  }
  if (wanted.compression !== undefined && found.compression !== wanted.compression) {
    wrong.push(`compression is ${found.compression ?? "none"}, not ${wanted.compression}`);
  }
  if (wrong.length === 0) return;
  throw new Fault(
    "BUS_UNSUPPORTED",
    `The NATS stream ${name} exists with settings that do not fit: ${wrong.join("; ")}.`,
    {
      retry: "never",
      facts: { stream: name, complaints: wrong.join("; ") },
    },
  );
}

function unavailable(name: string, cause: unknown): Fault {
  return new Fault("BUS_UNAVAILABLE", `The NATS stream ${name} could not be reached: ${messageOf(cause)}.`, {
    retry: "later",
    facts: { stream: name },
    cause,
  });
}
