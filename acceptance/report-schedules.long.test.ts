// Scheduled reports on the running platform, with a mail server, a chat service and a bucket of our own: each target away and back again, the gateway killed
// between making and delivering and wherever else it happens to be, and every run delivered once to each.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import { type ChatServer, startChatServer } from "../testkit/chat-server.ts";
import { developmentOperator, logInAs, operatorUrl } from "../testkit/login.ts";
import { type MailServer, startMailServer } from "../testkit/mail-server.ts";
import { eventually, type Platform, pause, startPlatform } from "../testkit/platform.ts";
import { type S3Server, startS3Server } from "../testkit/s3-server.ts";

const secrets = { "chat/token": "a-bot-token", "storage/secret-access-key": "wJalr+/EXAMPLE" };
const keys = { accessKeyId: "AKEXAMPLE", region: "eu-central-1" };
const patienceMs = 240_000;

let platform: Platform;
let folder: string;
let [mail, chat, s3]: [MailServer?, ChatServer?, S3Server?] = [];

const configuration = (ports: { mail: number; chat: string; s3: string }): string => `
chat: {provider: discord, base_url: "${ports.chat}", channel_id: "4711"}
reports:
  schedule:
    minutely-nav:
      cron: "* * * * *"
      time_zone: Europe/Berlin
      window: 7d
      funds: [alpha]
      distribute: [email, chat, pdf-to-storage]
  email: {provider: smtp, host: 127.0.0.1, port: ${ports.mail}, tls: none, to: [investors@example.com]}
  storage: {provider: s3, endpoint: "${ports.s3}", region: eu-central-1, bucket: fund-reports, access_key_id: AKEXAMPLE}
`;

beforeAll(async () => {
  mail = await startMailServer();
  chat = await startChatServer({ token: secrets["chat/token"], limit: 50 });
  s3 = await startS3Server({ ...keys, secretAccessKey: secrets["storage/secret-access-key"] });
  folder = mkdtempSync(join(tmpdir(), "portcullis-schedules-"));
  const path = join(folder, "portcullis.yaml");
  writeFileSync(path, configuration({ mail: mail.port, chat: chat.url, s3: s3.url }));
  platform = startPlatform({ funds: "as configured", environment: { PORTCULLIS_CONFIG: path } });
  await platform.ready();
  await putSecrets();
}, 300_000);
afterAll(async () => {
  await platform?.end();
  for (const server of [mail, chat, s3]) await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const duty = async () => {
  const { access_token: token } = await logInAs(platform, "duty");
  return createClient({ baseUrl: operatorUrl(platform), token: () => token });
};

/** Each code counts once: one of the step before and one of this. */
async function putSecrets(): Promise<void> {
  const client = await duty();
  const totp = new TOTP({ secret: developmentOperator(platform.dataFolder, "duty").totp_secret });
  let earlierMs = 30_000;
  for (const [path, value] of Object.entries(secrets)) {
    const code = totp.generate({ timestamp: Date.now() - earlierMs });
    const { proof } = await client.stepUp({ action: "PutSecret", parameters: { path }, totp: code });
    await client.putSecret({ path, value, reason: "a test", stepUpProof: proof });
    earlierMs -= 30_000;
  }
}

const runs = async () => (await duty()).listReportRuns({ name: "minutely-nav", countMax: 200 });

async function killGateway(): Promise<void> {
  const { gateway = 0 } = platform.runFile().processes;
  process.kill(gateway, "SIGKILL");
  await eventually("the gateway is back", () => platform.runFile().processes["gateway"] !== gateway, patienceMs);
  await eventually("it answers", async () => (await platform.health()) === 200, patienceMs);
}

/** How often each target has each run. */
function counted(runId: string, key: string) {
  return {
    mails: mail?.mails.filter(({ messageId }) => messageId === `run.${runId}@portcullis`).length,
    chats: chat?.postings.filter(({ content }) => content.includes(runId)).length,
    writes: s3?.objects.get(`fund-reports/${key}`)?.writes,
  };
}

test("made while every target was away, killed before anything was delivered: each target gets it once when it is back", async () => {
  if (mail === undefined || chat === undefined || s3 === undefined) throw new Error("the targets do not run");
  [mail.mood, chat.mood, s3.mood] = ["refuse", 503, 503];
  await eventually(
    "a run is made and each of its targets was tried",
    async () =>
      (await runs()).some(({ deliveries }) => deliveries.length === 3 && deliveries.every((one) => one.attempts > 0)),
    patienceMs,
  );
  expect([mail.mails.length, chat.postings.length, s3.objects.size]).toEqual([0, 0, 0]);
  await killGateway();
  // One after the other: what is back gets it, what is away holds nobody up.
  mail.mood = "well";
  await eventually("the mail is there", () => (mail?.mails.length ?? 0) > 0, patienceMs);
  expect([chat.postings.length, s3.objects.size]).toEqual([0, 0]);
  [chat.mood, s3.mood] = ["well", "well"];
  await eventually(
    "the others have it",
    () => (chat?.postings.length ?? 0) > 0 && (s3?.objects.size ?? 0) > 0,
    patienceMs,
  );
}, 600_000);

test("run now is one more, marked as such", async () => {
  const client = await duty();
  const [asked] = await client.runReportSchedule({ name: "minutely-nav", reason: "for the board" });
  expect(asked).toMatchObject({ trigger: "OPERATOR", status: "DUE", fund_id: "alpha", requested_by: "operator:duty" });
  await eventually(
    "it is delivered",
    async () =>
      (await runs()).some(
        (run) =>
          run.run_id === asked?.run_id &&
          run.deliveries.length === 3 &&
          run.deliveries.every(({ status }) => status === "DELIVERED"),
      ),
    patienceMs,
  );
}, 600_000);

test("killed at any moment: every run is delivered once to each target, and none is lost", async () => {
  for (const waitMs of [7_000, 23_000, 41_000]) {
    await pause(waitMs);
    await killGateway();
  }
  await eventually(
    "everything that was due is made and delivered",
    async () => {
      const all = await runs();
      const open = all.filter(
        ({ status, deliveries }) =>
          status === "DUE" || status === "MAKING" || deliveries.some((one) => one.status === "PENDING"),
      );
      return all.length > 3 && open.length === 0;
    },
    patienceMs,
  );
  const all = await runs();
  const moments = all.filter(({ trigger }) => trigger !== "OPERATOR").map(({ due_at }) => Date.parse(due_at));
  // Newest first, and not a minute without its run.
  expect(moments.every((at, index) => index === 0 || (moments[index - 1] ?? 0) - at === 60_000)).toBe(true);
  for (const run of all.filter(({ status }) => status === "MADE")) {
    expect(run.deliveries.map(({ status }) => status)).toEqual(["DELIVERED", "DELIVERED", "DELIVERED"]);
    const key = run.deliveries.find(({ target }) => target === "pdf-to-storage")?.reference ?? "";
    const { mails = 0, ...others } = counted(run.run_id, key);
    expect(others, run.run_id).toEqual({ chats: 1, writes: 1 });
    // A kill between the server's answer and our row sends the same Message-ID again, and nothing else does.
    expect(mails, run.run_id).toBeGreaterThanOrEqual(1);
    expect(mails, run.run_id).toBeLessThanOrEqual(
      run.deliveries.find(({ target }) => target === "email")?.attempts ?? 0,
    );
  }
}, 900_000);
