// The suite that every mail passes: one list of checks, each named after the promise of ports/mail.ts that it holds the mail to.
import { afterEach, describe, expect, it } from "vitest";
import { mailAttachmentBytesMax } from "../../contracts/src/records/report-schedule.ts";
import type { Mail, MailMessage } from "../../ports/mail.ts";

export interface MailFixture {
  readonly mail: Mail;
  /** What recipients got, as it stands on the wire, in order. */
  delivered(): Promise<readonly string[]>;
  /** Makes it refuse or be silent from now on. */
  breakDown(how: "refuse" | "silence"): Promise<void>;
  /** Whether it can be silent at all: a folder cannot. */
  readonly hasNetwork: boolean;
  close(): Promise<void>;
}

const patienceMs = 30_000;

export function mailMessage(differs: Partial<MailMessage> = {}): MailMessage {
  return {
    messageId: "run.0123@portcullis.example",
    subject: "NAV report: alpha",
    text: "Closing NAV 1,000.00\n",
    attachments: [
      { name: "nav.pdf", contentType: "application/pdf", content: Uint8Array.from([37, 80, 68, 70, 0, 255]) },
    ],
    ...differs,
  };
}

/** Header lines without their continuations, lower-case names. */
function headersOf(raw: string): readonly string[] {
  return (raw.split("\r\n\r\n")[0] ?? "").replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
}

export function mailConformance(name: string, open: () => Promise<MailFixture>): void {
  describe(`mail conformance: ${name}`, () => {
    const fixtures: MailFixture[] = [];
    const start = async (): Promise<MailFixture> => {
      const fixture = await open();
      fixtures.push(fixture);
      return fixture;
    };
    afterEach(async () => {
      for (const fixture of fixtures.splice(0)) await fixture.close();
    });

    it("promises 1 and 3: what was taken is there with its Message-ID, text and attachment; what was not rejects", async () => {
      const fixture = await start();
      await fixture.mail.send(mailMessage(), patienceMs);
      const [raw = ""] = await fixture.delivered();
      expect(headersOf(raw).find((line) => /^message-id:/i.test(line))).toMatch(/<run\.0123@portcullis\.example>$/);
      expect(raw).toContain("Closing NAV 1,000.00");
      expect(raw).toContain(Buffer.from([37, 80, 68, 70, 0, 255]).toString("base64"));
      await fixture.breakDown("refuse");
      const refused = fixture.mail.send(mailMessage({ messageId: "two@portcullis.example" }), patienceMs);
      await expect(refused).rejects.toMatchObject({ code: "MAIL_UNAVAILABLE" });
      expect((await fixture.delivered()).length).toBe(1);
    });

    it("promise 2: a silent server is not waited for beyond the deadline", async () => {
      const fixture = await start();
      if (!fixture.hasNetwork) return;
      await fixture.breakDown("silence");
      await expect(fixture.mail.send(mailMessage(), 300)).rejects.toThrow("in time");
    });

    it("promise 4: nothing adds a header, a recipient or an attachment", async () => {
      const fixture = await start();
      const nasty = "x\r\nBcc: thief@evil.example\r\n\r\n<script>";
      const named = { name: nasty, contentType: "application/pdf\r\nX-Evil: 1", content: Uint8Array.from([1]) };
      await fixture.mail.send(
        mailMessage({ subject: nasty, text: `.\r\n.\r\nQUIT\r\n${nasty}`, attachments: [named] }),
        patienceMs,
      );
      const [raw = ""] = await fixture.delivered();
      expect(headersOf(raw).filter((line) => /^(bcc|x-evil|to|cc):/i.test(line))).toEqual([
        expect.stringMatching(/^to: investors@example\.com$/i),
      ]);
      expect(raw).toContain("QUIT");
      expect(raw.match(/^x-evil:/im)).toBeNull();
      const badId = fixture.mail.send(mailMessage({ messageId: "a@b>\r\nBcc: x" }), patienceMs);
      await expect(badId).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    });

    it("promise 5: too much is refused before anything is sent", async () => {
      const fixture = await start();
      const content = new Uint8Array(mailAttachmentBytesMax + 1);
      const large = mailMessage({ attachments: [{ name: "a.pdf", contentType: "application/pdf", content }] });
      await expect(fixture.mail.send(large, patienceMs)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      expect(await fixture.delivered()).toEqual([]);
    });
  });
}
