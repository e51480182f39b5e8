// Commands that pages show and copy have values in them that others chose: they are made by `shell`, which keeps each of them one word.
import ts from "typescript";
import { at, type Complaint, isTest } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

export function* pageCommands(file: SourceFile): Iterable<Complaint> {
  if (!file.path.startsWith("edges/web/") || isTest(file.path) || !file.text.includes("ctl ")) return;
  for (const node of file.nodes.get(ts.SyntaxKind.TemplateExpression) ?? []) {
    if (!ts.isTemplateExpression(node) || !/^ctl /.test(node.head.text)) continue;
    if (ts.isTaggedTemplateExpression(node.parent) && node.parent.tag.getText(file.tree) === "shell") continue;
    yield at(file, node, "a command with a value in it that a shell would read: take shell`…` of edges/words/shell.ts");
  }
}
