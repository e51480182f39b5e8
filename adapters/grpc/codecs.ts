// Message codecs by full name. The generated modules export one codec per message under the message's own name, so the
// table is read off the modules; a test holds it against every procedure of the protos.
import { BinaryReader, type BinaryWriter } from "@bufbuild/protobuf/wire";
import * as audit from "../../contracts/src/generated/svc/v1/audit.ts";
import * as auditdesk from "../../contracts/src/generated/svc/v1/auditdesk.ts";
import * as envelope from "../../contracts/src/generated/svc/v1/envelope.ts";
import * as events from "../../contracts/src/generated/svc/v1/events.ts";
import * as filingChecks from "../../contracts/src/generated/svc/v1/filingchecks.ts";
import * as filings from "../../contracts/src/generated/svc/v1/filings.ts";
import * as foreign from "../../contracts/src/generated/svc/v1/foreign.ts";
import * as halt from "../../contracts/src/generated/svc/v1/halt.ts";
import * as haltdesk from "../../contracts/src/generated/svc/v1/haltdesk.ts";
import * as instance from "../../contracts/src/generated/svc/v1/instance.ts";
import * as market from "../../contracts/src/generated/svc/v1/market.ts";
import * as marketdesk from "../../contracts/src/generated/svc/v1/marketdesk.ts";
import * as matrix from "../../contracts/src/generated/svc/v1/matrix.ts";
import * as operations from "../../contracts/src/generated/svc/v1/operations.ts";
import * as order from "../../contracts/src/generated/svc/v1/order.ts";
import * as platform from "../../contracts/src/generated/svc/v1/platform.ts";
import * as replay from "../../contracts/src/generated/svc/v1/replay.ts";
import * as riskdesk from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import * as riskengine from "../../contracts/src/generated/svc/v1/riskengine.ts";
import * as riskworkers from "../../contracts/src/generated/svc/v1/riskworkers.ts";
import * as secrets from "../../contracts/src/generated/svc/v1/secrets.ts";
import * as watchdogs from "../../contracts/src/generated/svc/v1/watchdogs.ts";
import * as webhook from "../../contracts/src/generated/svc/v1/webhook.ts";

/** A generated codec, its message type forgotten: which message goes with which procedure is known only at run time. */
export interface MessageCodec {
  encode(message: unknown): BinaryWriter;
  decode(bytes: BinaryReader | Uint8Array): unknown;
}

const modules = [
  audit,
  auditdesk,
  envelope,
  events,
  foreign,
  halt,
  haltdesk,
  instance,
  market,
  marketdesk,
  matrix,
  operations,
  order,
  platform,
  filingChecks,
  filings,
  replay,
  riskdesk,
  riskengine,
  riskworkers,
  secrets,
  watchdogs,
  webhook,
];

export const codecs: ReadonlyMap<string, MessageCodec> = new Map(
  modules.flatMap((module) =>
    Object.entries(module).flatMap(([name, exported]: [string, unknown]): [string, MessageCodec][] =>
      isCodec(exported) ? [[`${module.protobufPackage}.${name}`, exported]] : [],
    ),
  ),
);

function isCodec(exported: unknown): exported is MessageCodec {
  return typeof exported === "object" && exported !== null && "encode" in exported && "decode" in exported;
}

/** proto3 text is UTF-8. The runtime's own reader would put replacement characters into ids and reasons without a word. */
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The generated readers stop at a tag that is zero or ends a group, and leave what follows unread. Whoever keeps the bytes inside another
 * message would have that message read on from there, so only what was read to its end is a message.
 */
export function decodeStrictly(codec: MessageCodec, bytes: Uint8Array): unknown {
  const reader = new BinaryReader(bytes, (text) => strictUtf8.decode(text));
  const message = codec.decode(reader);
  if (reader.pos !== reader.len) throw new RangeError(`${reader.len - reader.pos} bytes follow its end`);
  return message;
}
