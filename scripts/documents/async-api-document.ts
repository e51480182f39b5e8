// What this platform sends and receives without being asked each time, as an AsyncAPI 3.0 document: the subjects of the bus, the operators' events
// (GET /v1/events) and the public stream (/v1/stream). It is made from the schemas that publishers and readers are checked by, committed and compared.
import { z } from "zod";
import { version } from "../../contracts/src/generated/version.ts";
import { instantText } from "../../contracts/src/records/fields.ts";
import { subjects } from "../../contracts/src/subjects.ts";

type Json = Readonly<Record<string, unknown>>;

/** One kind of message: its name, what it says, and its form. */
interface Frame {
  readonly name: string;
  readonly sentence: string;
  readonly schema: z.ZodType;
}

/** The frames of a stream, by who sends them. */
export interface Frames {
  readonly sent: readonly Frame[];
  readonly received: readonly Frame[];
}

const followedEvent = z
  .object({
    id: z.string().optional().meta({ description: "Where to go on after it; prices have none." }),
    subject: z.string().meta({ description: "Its name on the bus." }),
    at: instantText,
    payload: z.record(z.string(), z.unknown()).meta({ description: "What the channel of that subject describes." }),
  })
  .meta({ description: "The data of one server-sent event; its event is the subject." });

const reset = z.object({ id: z.string(), detail: z.string() });

const eventFrames: Frames = {
  sent: [
    { name: "event", sentence: "Something happened.", schema: followedEvent },
    {
      name: "reset",
      sentence: "What followed the last event that you read is no longer kept: read anew what you show.",
      schema: reset,
    },
  ],
  received: [],
};

export function asyncApiDocument(streamFrames: Frames): object {
  const bus = Object.values(subjects).sort((left, right) => (left.name < right.name ? -1 : 1));
  const schemas: Record<string, unknown> = {};
  const channels: Record<string, unknown> = {};
  const operations: Record<string, unknown> = {};
  addStream(
    "stream",
    "/v1/stream",
    "public",
    "Public market data over a WebSocket: JSON text frames with a type.",
    streamFrames,
  );
  addStream(
    "events",
    "/v1/events",
    "operator",
    "The platform's events as server-sent events (text/event-stream).",
    eventFrames,
  );
  for (const { name, sentence, schema, delivery } of bus) {
    const message = { name, summary: sentence, payload: payloadOf(schema as z.ZodType, schemas) };
    const description =
      delivery === "durable" ? "Never lost; order is kept within a key." : "Only the newest per key matters.";
    channels[name] = { address: name, servers: [serverReference("bus")], description, messages: { event: message } };
    operations[`publish.${name}`] = { action: "send", channel: channelReference(name), summary: sentence };
  }
  function addStream(name: string, address: string, server: string, description: string, frames: Frames): void {
    const messages = [...frames.sent, ...frames.received].map((frame) => [
      frame.name,
      { name: frame.name, summary: frame.sentence, payload: payloadOf(frame.schema, schemas) },
    ]);
    channels[name] = {
      address,
      servers: [serverReference(server)],
      description,
      messages: Object.fromEntries(messages),
    };
    for (const [action, chosen] of [
      ["send", frames.sent],
      ["receive", frames.received],
    ] as const) {
      if (chosen.length === 0) continue;
      const references = chosen.map((frame) => ({ $ref: `#/channels/${name}/messages/${frame.name}` }));
      operations[`${action}.${name}`] = { action, channel: channelReference(name), messages: references };
    }
  }
  return { asyncapi: "3.0.0", info, servers, channels, operations, components: { schemas: sorted(schemas) } };
}

const info = {
  title: "Portcullis events and streams",
  version,
  description:
    "Payloads may get more members within v1: ignore those that you do not know. The requests and answers of the HTTP interface are in /v1/openapi.json.",
  license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
};

/** As the platform comes; where yours are is in its configuration. */
const servers = {
  public: { host: "127.0.0.1:8081", protocol: "ws", description: "The public port. No token is needed." },
  operator: {
    host: "127.0.0.1:8080",
    protocol: "http",
    description: "The operators' port, with `authorization: Bearer <token>`.",
  },
  bus: {
    host: "127.0.0.1:4222",
    protocol: "nats",
    description:
      "NATS JetStream, where PORTCULLIS_BUS_URL names one; else the same events are read through /v1/events.",
  },
};

const serverReference = (name: string): Json => ({ $ref: `#/servers/${name}` });
const channelReference = (name: string): Json => ({ $ref: `#/channels/${name}` });

/** The form of a payload; schemas that have a name become components. */
function payloadOf(schema: z.ZodType, schemas: Record<string, unknown>): unknown {
  const made = z.toJSONSchema(schema, { target: "draft-7", io: "input", unrepresentable: "any" });
  const { $schema: _dialect, definitions = {}, ...payload } = rebased(made) as Json & { readonly definitions?: Json };
  for (const [name, definition] of Object.entries(definitions)) schemas[name] = definition;
  return payload;
}

/** With references into the document's components, and without the marks of the library that made it. */
function rebased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rebased);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, inner]) => !(key === "id" && typeof inner === "string"))
    .map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string"
        ? inner.replace("#/definitions/", "#/components/schemas/")
        : rebased(inner),
    ]);
  return Object.fromEntries(entries);
}

function sorted(record: Json): Json {
  return Object.fromEntries(Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1)));
}
