// Asks the risk engine about one order, as an order-management system would, with nothing but the protos and the development token:
//   node examples/check-order.js --symbol AAPL --side BUY --quantity 10
// Every field of svc.v1.Order is a flag; --dry-run asks without reserving anything. It prints one line and the gates, with --json the whole decision, and
// exits 0 when the order was approved, 6 when it was denied, 9 when nobody answered.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const protos = fileURLToPath(new URL("../contracts/proto/", import.meta.url));
const dataFolder = process.env.PORTCULLIS_DATA_DIR ?? ".portcullis";
const read = (name) => JSON.parse(readFileSync(join(dataFolder, name), "utf8"));

const texts = [
  "idempotency-key",
  "order-id",
  "fund-id",
  "strategy-id",
  "symbol",
  "side",
  "quantity",
  "order-type",
  "limit-price",
  "stop-price",
];
const more = [
  "tif",
  "expires-at",
  "broker",
  "asset-class",
  "venue",
  "currency",
  "actor",
  "thesis",
  "created-at",
  "notional",
];
const switches = ["reduce-only", "dry-run", "json", "help"];
const usage = `usage: node examples/check-order.js [--FIELD VALUE ...] [--reduce-only] [--dry-run] [--json]
fields: ${[...texts, ...more].map((name) => `--${name}`).join(" ")}
exit 0 approved, 6 denied, 9 nobody answered, 2 wrong usage
`;

function parsed() {
  try {
    return parseArgs(expected).values;
  } catch (error) {
    process.stderr.write(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

const expected = {
  options: {
    ...Object.fromEntries([...texts, ...more].map((name) => [name, { type: "string" }])),
    ...Object.fromEntries(switches.map((name) => [name, { type: "boolean" }])),
  },
};
const { help, json, ...values } = parsed();
if (help) {
  process.stdout.write(usage);
  process.exit(0);
}

const order = {
  idempotency_key: randomUUID(),
  order_id: randomUUID(),
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "10",
  order_type: "MARKET",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
  actor: "example",
  ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name.replaceAll("-", "_"), value])),
  ...(values.notional === undefined ? {} : { notional: Number(values.notional) }),
};

const definition = loader.loadSync("svc/v1/riskengine.proto", {
  includeDirs: [protos],
  keepCase: true,
  defaults: true,
  arrays: true,
  longs: Number,
  enums: String,
});
const { RiskEngine } = grpc.loadPackageDefinition(definition).svc.v1;
const client = new RiskEngine(
  process.env.RISK_ENGINE ?? read("run.json").addresses.riskengine,
  grpc.credentials.createInsecure(),
);
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${process.env.TOKEN ?? read("dev-credentials.json").service_token}`);

/** One line for the decision, then one for each gate that was asked. */
function inWords({ approved, code, reason, checks }) {
  const about = `${order.side} ${order.quantity} ${order.symbol} for ${order.fund_id}, order ${order.order_id}`;
  const head = approved ? `APPROVED  ${about}` : `DENIED  ${about}: ${code}. ${reason}`;
  return [head, ...checks.map(({ gate, result }) => `  ${result.padEnd(7)} ${gate}`)].join("\n");
}

client.CheckOrder(order, metadata, { deadline: Date.now() + 5_000 }, (error, decision) => {
  if (error) {
    process.stderr.write(`${error.message} (${error.metadata?.get("portcullis-code")[0] ?? "no answer"})\n`);
    process.exitCode = 9;
  } else {
    process.stdout.write(`${json ? JSON.stringify(decision, null, 2) : inWords(decision)}\n`);
    process.exitCode = decision.approved ? 0 : 6;
  }
  client.close();
});
