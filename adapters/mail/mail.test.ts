// Both mails under the suite of their port; then what is a mail server's own: its login, recipients that it refuses, answers that were lost.
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { mailConformance, mailMessage } from "../../testkit/conformance/mail.ts";
import { type MailServer, type MailServerOptions, startMailServer } from "../../testkit/mail-server.ts";
import { systemTimers } from "../system/timers.ts";
import { fileMail } from "./file-mail.ts";
import { type SmtpMailOptions, smtpMail } from "./smtp-mail.ts";

const timers = systemTimers();
const addresses = { from: "reports@example.com", to: ["investors@example.com"] };
const patienceMs = 30_000;

mailConformance("file", async () => {
  const parent = await mkdtemp(join(tmpdir(), "portcullis-mail-"));
  const folder = join(parent, "mail");
  const mail = fileMail({ folder, ...addresses });
  return {
    mail,
    hasNetwork: false,
    async delivered() {
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".eml"));
      return Promise.all(names.map((name) => readFile(join(folder, name), "latin1")));
    },
    async breakDown() {
      // Where the second message is to be written there is a folder.
      await mkdir(join(folder, "two@portcullis.example.eml.new"));
    },
    async close() {
      await mail.close();
      await rm(parent, { recursive: true, force: true });
    },
  };
});

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

async function smtpFixture(server: MailServerOptions = {}, differs: Partial<SmtpMailOptions> = {}) {
  const started: MailServer = await startMailServer(server);
  const place = { timers, host: "127.0.0.1", port: started.port, tls: "none" } as const;
  const mail = smtpMail({ ...place, ...addresses, user: undefined, password: async () => undefined, ...differs });
  return {
    mail,
    server: started,
    hasNetwork: true,
    delivered: async () => started.mails.map(({ raw }) => raw),
    breakDown: async (how: "refuse" | "silence") => {
      started.mood = how;
    },
    close: async () => {
      await mail.close();
      await started.close();
    },
  };
}

mailConformance("SMTP", () => smtpFixture());

it("the file of a message is there once, however often it is sent", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portcullis-mail-"));
  closes.push(() => rm(folder, { recursive: true, force: true }));
  const mail = fileMail({ folder, ...addresses });
  for (let count = 0; count < 3; count += 1) await mail.send(mailMessage(), patienceMs);
  expect(await readdir(folder)).toEqual(["run.0123@portcullis.example.eml"]);
});

it("a login is shown with the password of the moment, and a wrong one is named without being repeated", async () => {
  const passwords = ["hunter2", "hunter3", undefined];
  const login = { user: "reports", password: async () => passwords.shift() };
  const fixture = await smtpFixture({ user: "reports", password: "hunter3" }, login);
  closes.push(fixture.close);
  const wrong = await fixture.mail.send(mailMessage(), patienceMs).catch((thrown: unknown) => thrown);
  expect(String(wrong)).toContain("535");
  expect(JSON.stringify(wrong) + String(wrong)).not.toContain("hunter");
  await fixture.mail.send(mailMessage(), patienceMs);
  expect(fixture.server.mails.length).toBe(1);
  await expect(fixture.mail.send(mailMessage(), patienceMs)).rejects.toThrow("no password for it among the secrets");
});

it("a recipient who is refused is named, and the others have it", async () => {
  const to = ["gone@example.com", "investors@example.com"];
  const fixture = await smtpFixture({ refusedRecipient: "gone@example.com" }, { to });
  closes.push(fixture.close);
  expect(await fixture.mail.send(mailMessage(), patienceMs)).toEqual({ refused: ["gone@example.com"] });
  expect(fixture.server.mails[0]?.recipients).toEqual(["investors@example.com"]);
});

it("STARTTLS that is not offered is no clear text; an answer that was lost is no success", async () => {
  const strict = await smtpFixture({}, { tls: "starttls" });
  const lost = await smtpFixture();
  closes.push(strict.close, lost.close);
  await expect(strict.mail.send(mailMessage(), patienceMs)).rejects.toMatchObject({ code: "MAIL_UNAVAILABLE" });
  expect(strict.server.mails).toEqual([]);
  lost.server.mood = "lost";
  await expect(lost.mail.send(mailMessage(), patienceMs)).rejects.toMatchObject({ code: "MAIL_UNAVAILABLE" });
  lost.server.mood = "well";
  await lost.mail.send(mailMessage(), patienceMs);
  expect(new Set(lost.server.mails.map(({ messageId }) => messageId))).toEqual(
    new Set(["run.0123@portcullis.example"]),
  );
});
