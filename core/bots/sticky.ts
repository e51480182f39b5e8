// The bot's one comment in a thread: a section for each persona, and each is replaced alone. Sections begin with a line that pages do not show; what stands in
// between was rendered by us, so that no other text can look like such a line.
import { type BotRunner, botRunners } from "../../contracts/src/records/githubbot.ts";

const stickyMark = '[//]: # "portcullis-bot"';
const sectionLine = /^\[\/\/\]: # "portcullis-bot ([a-z_]+)"$/;

const titles: Readonly<Record<BotRunner, string>> = {
  triager: "Triage",
  code_reviewer: "Review",
  bug_fixer: "Fix",
  keeper: "Commands",
};

/** GitHub takes 65,536 characters. */
const commentCharactersMax = 60_000;

function sectionsOf(comment: string): Map<BotRunner, string> {
  const sections = new Map<BotRunner, string>();
  let current: BotRunner | undefined;
  for (const line of comment.replaceAll("\r\n", "\n").split("\n")) {
    const name = sectionLine.exec(line)?.[1];
    if (name !== undefined) {
      current = botRunners.find((each) => each === name);
      if (current !== undefined) sections.set(current, "");
    } else if (current !== undefined) {
      sections.set(current, `${sections.get(current) ?? ""}${line}\n`);
    }
  }
  return sections;
}

/** The comment with this persona's section instead of its last one. */
export function withSection(comment: string, persona: BotRunner, markdown: string): string {
  const sections = sectionsOf(comment);
  sections.set(persona, `### ${titles[persona]}\n\n${markdown.trim()}\n`);
  const written = botRunners.flatMap((name) => {
    const section = sections.get(name);
    return section === undefined ? [] : [`[//]: # "portcullis-bot ${name}"\n\n${section.trim()}`];
  });
  return [stickyMark, ...written].join("\n\n").slice(0, commentCharactersMax);
}

export function isSticky(comment: string): boolean {
  return comment.startsWith(stickyMark);
}
