// A fall that really happened on the running platform: the paper market gaps, a stop fires, somebody halts the fund. The post-mortem has them in the order of
// the audit log; a language model writes its words from the facts, and one that invents a number is refused.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import { createReports } from "../edges/client/src/reports.ts";
import { isReconciled, type ReportDocument, reportDocument } from "../reports/document.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { type ModelRequest, type ModelServer, startModelServer } from "../testkit/model-server.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const configuration = `
research: { decide_every_s: 3600 }
synthetic_stop: { poll_interval_s: 1, poll_interval_equities_s: 1 }
`;
const waitMsMax = 180_000;
const key = "sk-for-the-model-alone";

let platform: Platform;
let model: ModelServer;
let token = "";
let invents = false;

/** Says every fact again, word by word, or one thing that no fact says. */
function answerTo({ body: { messages = [] } }: ModelRequest): string {
  const asked = messages.findLast(({ role }) => role === "user")?.content;
  const prompt = typeof asked === "string" ? asked : (asked as { text: string }[]).map(({ text }) => text).join("");
  const facts = prompt
    .split("\n")
    .map((line) => ({ id: line.split(":")[0] ?? "", text: line.slice(line.indexOf(":") + 2) }));
  const paragraphs = facts.slice(0, 12).map(({ id, text }) => ({ text, facts: [id] }));
  return JSON.stringify({
    paragraphs: invents ? [{ text: "The fund lost 987654.32 USD.", facts: ["F1"] }] : paragraphs,
  });
}

beforeAll(async () => {
  model = await startModelServer(answerTo);
  const config = join(temporaryFolder("postmortem"), "config.yaml");
  writeFileSync(config, configuration);
  platform = startPlatform({
    funds: "as configured",
    environment: {
      PORTCULLIS_CONFIG: config,
      PORTCULLIS_LANGUAGE_MODEL_PROVIDER: "openai_compatible",
      PORTCULLIS_LANGUAGE_MODEL: "local-model",
      PORTCULLIS_LANGUAGE_MODEL_URL: model.url,
      PORTCULLIS_LANGUAGE_MODEL_KEY: key,
    },
  });
  await platform.ready();
  token = (await logInAs(platform, "duty")).access_token;
}, 300_000);
afterAll(async () => {
  await platform.end();
  await model.close();
});

const client = () => createClient({ baseUrl: operatorUrl(platform), token: () => token });

async function postmortem(day: string): Promise<ReportDocument> {
  const text = await createReports(client()).postmortem_auto_rca("alpha", day, day, { format: "json" });
  return reportDocument.parse(JSON.parse(text));
}

function rows(document: ReportDocument, id: string) {
  const found = document.sections
    .flatMap(({ blocks }) => blocks)
    .find((each) => each.kind === "table" && each.id === id);
  return found?.kind === "table" ? found.rows : [];
}

test("a gap, a stop and a halt stand in the order of the log, in words whose figures were checked", async () => {
  const held = async () =>
    (await client().getPositions({ fundId: "alpha" })).find(
      ({ symbol, strategy_id }) => symbol === "AAPL" && strategy_id === "alpha-momentum",
    );
  await eventually("AAPL is held", async () => (await held()) !== undefined, waitMsMax);
  await client().setPaperWeather({ gaps: [{ symbol: "AAPL", pct: -0.2 }], reason: "somebody typed this" } as never);
  const isFlat = async (): Promise<boolean> => (await held()) === undefined;
  await eventually("the stop has closed the position", isFlat, waitMsMax);
  await client().requestHalt({ id: "alpha", reason: "somebody typed this", confirmation: "HALT" });
  const [newest] = await client().listNavs({ fundId: "alpha", every: "second", countMax: 1 });
  const day = newest?.trading_day ?? "";

  let document = await postmortem(day);
  const actionsOf = (): readonly unknown[] => rows(document, "audit_entries").map(([, , action]) => action);
  // The log has an entry a moment after what it tells of.
  await eventually(
    "the halt is in the log",
    async () => {
      document = await postmortem(day);
      return actionsOf().includes("halt.requested");
    },
    waitMsMax,
  );
  const entries = rows(document, "audit_entries");
  const sequences = entries.map(([sequence]) => Number(sequence));
  expect(sequences).toEqual([...sequences].sort((one, other) => one - other));
  const actions = actionsOf();
  const order = ["paper.weather", "stop.triggered", "halt.requested"].map((action) => actions.indexOf(action));
  expect(order).toEqual([...order].sort((one, other) => one - other));
  expect(order).not.toContain(-1);
  expect(isReconciled(document)).toBe(true);
  expect(Number(document.metrics.find(({ id }) => id === "fall")?.value)).toBeLessThan(0);
  expect(rows(document, "fixes_table")[0]?.[0]).toMatch(/^max_position_pct 0\.035 instead of 0\.07$/);

  expect(document.narrative).toMatchObject({ source: "model", model: "local-model", refused: null });
  expect(document.narrative?.prompt_sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(model.requests.some(({ body }) => JSON.stringify(body).includes("F1: The period is"))).toBe(true);
  // Neither what somebody typed nor the key is in what was asked or made.
  for (const { body } of model.requests) expect(JSON.stringify(body)).not.toContain("somebody typed this");
  expect(JSON.stringify(document)).not.toContain(key);

  invents = true;
  const refused = await postmortem(day);
  expect(refused.narrative).toMatchObject({ source: "template", refused: expect.stringContaining("987654.32") });
  expect(JSON.stringify(refused.sections)).toContain("Written by a template, not by a model.");
}, 600_000);
