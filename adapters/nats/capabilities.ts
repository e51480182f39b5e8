// What a NATS server can do, by its version. Old servers drop settings that they do not know without a word (per-message
// expiry before 2.11 is the worst: the publish succeeds and the message stays for ever), so the version is asked first.
import { Fault } from "../../contracts/src/fault.ts";

export interface ServerFacts {
  readonly version: string;
  readonly jetStream: boolean;
}

interface FeatureEntry {
  readonly since: string;
  readonly sentence: string;
}

const features = {
  filter_subjects: { since: "2.10.0", sentence: "a consumer with several subject filters" },
  stream_compression: { since: "2.10.0", sentence: "compression of a stream" },
  stream_metadata: { since: "2.10.0", sentence: "metadata on streams and consumers" },
  message_ttl: { since: "2.11.0", sentence: "an expiry per message" },
  consumer_pause: { since: "2.11.0", sentence: "pausing a consumer" },
  atomic_batch: { since: "2.12.0", sentence: "publishing a batch as one" },
} as const satisfies Record<string, FeatureEntry>;

type Feature = keyof typeof features;

/** The oldest server that the adapter was written against and is tested with. */
const serverVersionMin = "2.9.0";

export function can(server: ServerFacts, feature: Feature): boolean {
  return isAtLeast(server.version, features[feature].since);
}

/** Refuses a server without JetStream, one that is too old, and every wanted feature that it lacks, by name. */
export function requireServer(server: ServerFacts, wanted: readonly Feature[]): void {
  if (!server.jetStream) {
    throw new Fault(
      "BUS_UNSUPPORTED",
      `The NATS server ${server.version} has JetStream switched off; start it with jetstream enabled.`,
      {
        retry: "never",
        facts: { feature: "jetstream", server_version: server.version },
      },
    );
  }
  if (!isAtLeast(server.version, serverVersionMin)) {
    throw tooOld(server.version, "server", "the bus at all", serverVersionMin);
  }
  for (const feature of wanted) {
    const { since, sentence } = features[feature];
    if (!can(server, feature)) throw tooOld(server.version, feature, `${feature} (${sentence})`, since);
  }
}

function tooOld(version: string, feature: string, what: string, since: string): Fault {
  return new Fault(
    "BUS_UNSUPPORTED",
    `${what} needs a NATS server of version ${since} or newer; this one is ${version}.`,
    {
      retry: "never",
      facts: { feature, server_version: version, needed_version: since },
    },
  );
}

/** Compares the three leading numbers; a pre-release ("2.11.0-RC.1") counts as its release. */
function isAtLeast(version: string, least: string): boolean {
  const have = numbersOf(version);
  const need = numbersOf(least);
  for (let place = 0; place < 3; place++) {
    const difference = (have[place] ?? 0) - (need[place] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function numbersOf(version: string): readonly number[] {
  const found = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? [] : found.slice(1).map(Number);
}
