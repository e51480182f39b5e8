// Completion scripts for four shells, made from the list of verbs. Each carries one table: after these words come those. A script walks the
// line, leaves options and their values out, and looks the rest up; it starts no process and asks no server, so Tab is instant.

import type { Grammar } from "./grammar.ts";
import { globalOptions } from "./program.ts";
import type { VerbOption } from "./verbs/verb.ts";

export type Shell = "bash" | "zsh" | "fish" | "powershell";

interface Word {
  readonly word: string;
  readonly sentence: string;
}

interface Place {
  /** The words before, for example "auth tokens"; empty at the beginning. */
  readonly line: string;
  readonly next: readonly Word[];
  readonly options: readonly VerbOption[];
}

interface Table {
  readonly places: readonly Place[];
  /** Options that take a value, each with the values that are known. */
  readonly valued: ReadonlyMap<string, readonly string[]>;
}

const helpOption: VerbOption = { name: "help", sentence: "Show this help." };
const versionOption: VerbOption = { name: "version", sentence: "Show the version." };

/** Values of options that would make the list of verbs slow to load, by the option's name. */
export type KnownValues = Readonly<Record<string, readonly string[]>>;

export function completionScript(shell: Shell, grammar: Grammar, known: KnownValues = {}): string {
  const verbs = grammar.verbs.map((verb) => ({
    ...verb,
    options: verb.options.map((option) => {
      const values = known[option.name] ?? option.values;
      return values === undefined ? option : { ...option, values };
    }),
  }));
  const table = tableOf({ ...grammar, verbs });
  switch (shell) {
    case "bash":
      return bash(table);
    case "zsh":
      return zsh(table);
    case "fish":
      return fish(table);
    case "powershell":
      return powershell(table);
  }
}

function tableOf({ verbs, groups }: Grammar): Table {
  const nodes: Word[] = [
    ...verbs.map(({ name, sentence }) => ({ word: name, sentence })),
    ...Object.entries(groups).map(([word, { sentence }]) => ({ word, sentence })),
  ];
  const childrenOf = (line: string): readonly Word[] =>
    nodes
      .filter(({ word }) => parentOf(word) === line)
      .map(({ word, sentence }) => ({ word: word.split(" ").at(-1) ?? word, sentence }));
  const grouping = ["", ...Object.keys(groups)].map((line) => ({
    line,
    next: childrenOf(line),
    options: line === "" ? [versionOption] : [],
  }));
  // `help` takes every command line as its topic.
  const topics = nodes.map(({ word }) => ({ line: `help ${word}`, next: childrenOf(word), options: [] }));
  const leaves = verbs.map(({ name, arguments: takes, options }) => ({
    line: name,
    next: [
      ...takes.flatMap(({ values, sentence }) => (values ?? []).map((word) => ({ word, sentence }))),
      ...(name === "help" ? childrenOf("") : []),
    ],
    options,
  }));
  const every = [...globalOptions, helpOption];
  const places = [...grouping, ...topics, ...leaves].map((place) => ({
    ...place,
    options: [...place.options, ...every],
  }));
  const taking = [...verbs.flatMap(({ options }) => options), ...globalOptions].filter(
    ({ value }) => value !== undefined,
  );
  // The longest line first: "auth tokens list" must be found before "auth".
  places.sort((left, right) => right.line.length - left.line.length);
  return { places, valued: new Map(taking.map(({ name, values }) => [`--${name}`, values ?? []])) };
}

function parentOf(name: string): string {
  return name.split(" ").slice(0, -1).join(" ");
}

const candidates = (place: Place): readonly Word[] => [
  ...place.next,
  ...place.options.map(({ name, sentence }) => ({ word: `--${name}`, sentence })),
];

const indent = (lines: readonly string[], by: number): string => lines.map((line) => " ".repeat(by) + line).join("\n");

/** In single quotes; a quote inside ends them, stands escaped, and begins them again. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function bash({ places, valued }: Table): string {
  const rows = places.map((place) => {
    const pattern = place.line === "" ? "*" : `"${place.line}"|"${place.line} "*`;
    return `${pattern}) found="${candidates(place)
      .map(({ word }) => word)
      .join(" ")}" ;;`;
  });
  const values = [...valued].map(([option, known]) => `${option}) found="${known.join(" ")}"; valued=1 ;;`);
  return `# bash completion of ctl; made by \`ctl completion bash\`.
_ctl() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" line="" found="" valued=0 at index
  for ((index = 1; index < COMP_CWORD; index++)); do
    at="\${COMP_WORDS[index]}"
    case "$at" in
      ${[...valued.keys()].join("|")}) index=$((index + 1)) ;;
      -*) ;;
      *) line="\${line:+$line }$at" ;;
    esac
  done
  case "$before" in
${indent(values, 4)}
  esac
  if [ "$valued" = 0 ]; then
    case "$line" in
${indent(rows, 6)}
    esac
  fi
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}
complete -F _ctl ctl
`;
}

function zsh({ places, valued }: Table): string {
  const rows = places.map((place) => {
    const pattern = place.line === "" ? "*" : `"${place.line}"|"${place.line} "*`;
    const items = candidates(place).map(({ word, sentence }) => quoted(`${word.replaceAll(":", "\\:")}:${sentence}`));
    return `(${pattern}) found=(${items.join(" ")}) ;;`;
  });
  const values = [...valued].map(
    ([option, known]) => `(${option}) found=(${known.map(quoted).join(" ")}); valued=1 ;;`,
  );
  return `#compdef ctl
# zsh completion of ctl; made by \`ctl completion zsh\`.
_ctl() {
  local line="" at
  local -i index valued=0
  local -a found
  for ((index = 2; index < CURRENT; index++)); do
    at="\${words[index]}"
    case "$at" in
      (${[...valued.keys()].join("|")}) index=$((index + 1)) ;;
      (-*) ;;
      (*) line="\${line:+$line }$at" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
${indent(values, 4)}
  esac
  if [ "$valued" = 0 ]; then
    case "$line" in
${indent(rows, 6)}
    esac
  fi
  _describe 'ctl' found
}
compdef _ctl ctl
`;
}

function fish({ places, valued }: Table): string {
  const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places.flatMap((place) => {
    const when = `-n ${fishQuoted(`__ctl_at ${fishQuoted(place.line)}`)}`;
    const words = place.next.map(
      ({ word, sentence }) => `complete -c ctl ${when} -a ${word} -d ${fishQuoted(sentence)}`,
    );
    const options = place.options.map(({ name, value, values, sentence }) => {
      const takes = value === undefined ? "" : values === undefined ? " -x" : ` -x -a ${fishQuoted(values.join(" "))}`;
      return `complete -c ctl ${when} -l ${name}${takes} -d ${fishQuoted(sentence)}`;
    });
    return [...words, ...options];
  });
  return `# fish completion of ctl; made by \`ctl completion fish\`.
function __ctl_line
    set -l skip 0
    set -l line
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${[...valued.keys()].join(" ")}
                set skip 1
            case '-*'
            case '*'
                set -a line $word
        end
    end
    string join ' ' -- $line
end
function __ctl_place
    set -l line (__ctl_line)
    for known in ${places.map(({ line }) => fishQuoted(line)).join(" ")}
        if test "$line" = "$known"; or test "$known" = ''; or string match -q -- "$known *" "$line"
            echo -- $known
            return
        end
    end
end
function __ctl_at
    set -l place (__ctl_place)
    test "$place" = "$argv[1]"
end
complete -c ctl -f
${lines.join("\n")}
`;
}

function powershell({ places, valued }: Table): string {
  const single = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const rows = places.map((place) => {
    const items = candidates(place).map(({ word, sentence }) => `@(${single(word)}, ${single(sentence)})`);
    return `@{ Line = ${single(place.line)}; Next = @(${items.map((item) => `,${item}`).join("; ")}) }`;
  });
  const values = [...valued].map(([option, known]) => `${single(option)} = @(${known.map(single).join(", ")})`);
  return `# PowerShell completion of ctl; made by \`ctl completion powershell\`.
Register-ArgumentCompleter -Native -CommandName ctl -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $valued = @{
${indent(values, 4)}
  }
  $places = @(
${indent(
  rows.map((row, at) => (at === rows.length - 1 ? row : `${row},`)),
  4,
)}
  )
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -ne '' -and $words.Count -gt 0) { $words = @($words | Select-Object -SkipLast 1) }
  $line = @(); $skip = $false; $before = ''
  foreach ($at in $words) {
    $before = $at
    if ($skip) { $skip = $false; $before = ''; continue }
    if ($valued.ContainsKey($at)) { $skip = $true; continue }
    if (-not $at.StartsWith('-')) { $line += $at }
  }
  if ($skip) { $found = @($valued[$before] | ForEach-Object { ,@($_, $_) }) }
  else {
    $text = $line -join ' '
    $place = $places | Where-Object { $_.Line -eq '' -or $text -eq $_.Line -or $text.StartsWith($_.Line + ' ') } | Select-Object -First 1
    $found = $place.Next
  }
  $found | Where-Object { $_[0].StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
  }
}
`;
}
