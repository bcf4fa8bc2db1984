import { worksOnFiles } from "./coding";
import type { Script } from "./reply";
import { byStage, call, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

export const PACE = { ttftMs: 60, tokensPerSecond: 200 };
export const LONG =
  "A long answer that takes its time to be written down, word by word and line by line. ".repeat(
    12,
  );

/**
 * A line of a question for `dutiful`: an action, a file of the context `site`, and its text. `run`
 * is followed by a command.
 */
const ORDER = /^(write|remove|read|run) (\S+) ?(.*)$/;

/** The tool calls that the lines of the question ask for. A removed file is read first. */
const ordersIn = ({ question }: Situation): [string, Record<string, unknown>][] =>
  question.split("\n").flatMap((line): [string, Record<string, unknown>][] => {
    const [, action, file, content] = ORDER.exec(line.trim()) ?? [];
    const path = `/contexts/site/${file}`;
    if (action === "run") return [["run_command", { command: `${file} ${content}` }]];
    if (action === "write") return [["write_file", { path, content }]];
    if (action === "read") return [["read_file", { path }]];
    if (action !== "remove") return [];
    return [
      ["read_file", { path }],
      ["delete_file", { path }],
    ];
  });

/** Models that work on contexts. The tests that run in workerd use them by name. */
export const CONTEXT_MODELS: Readonly<Record<string, Script>> = {
  // Gets /contexts/site, in which LICENSE and *.pem are protected.
  editor: worksOnFiles({
    first: [
      ["read_file", { path: "/contexts/site/index.html" }],
      ["write_file", { path: "/contexts/site/index.html", content: "too early" }],
      ["run_command", { command: "cp -r /contexts/site . && grep -rl page site" }],
    ],
    answer: "The page needs the number 42.",
    last: [
      [
        "edit_file",
        { path: "/contexts/site/index.html", old_string: "page", new_string: "page 42" },
      ],
      ["write_file", { path: "/contexts/site/LICENSE", content: "mine" }],
      ["run_command", { command: "echo x > /contexts/site/keys/a.pem" }],
      ["run_command", { command: "cd /contexts/site && mkdir new && echo 42 > new/n" }],
      ["write_file", { path: "/contexts/site/draft", content: "not for long" }],
      [
        "run_command",
        { command: "cd /contexts/site && rm draft && cat old.txt && mv old.txt new/old.txt" },
      ],
      ["write_file", { path: "/contexts/docs/a.md", content: "given to read" }],
    ],
  }),
  // Changes the context only in its presentation.
  careless: worksOnFiles({
    answer: "42 it is.",
    last: [["write_file", { path: "/contexts/site/index.html", content: "42" }]],
  }),
  // Does what the lines of the question say, one tool call per reply, and then repeats the results.
  dutiful: byStage({
    answering: () => newAnswer("As you say."),
    deciding: (situation) => vote(situation),
    presenting: (situation) => {
      const [name, args] = ordersIn(situation)[situation.callIndex] ?? [];
      const results = situation.toolResults.map(({ text }) => text).join(" | ");
      const offers = situation.offers.includes("read_file") ? "with files" : "without files";
      return name ? call(name, args ?? {}) : { text: `Done ${offers}: ${results}` };
    },
  }),
  silent: worksOnFiles({
    answer: "42, I would say.",
    last: [["write_file", { path: "/contexts/site/index.html", content: "lost" }]],
    final: { text: "" },
  }),
  dawdler: worksOnFiles({
    answer: "42, I would say.",
    last: [["write_file", { path: "/contexts/site/index.html", content: "lost" }]],
    // takes half a minute, so that a test can cancel it midway
    final: { text: LONG, pace: { ...PACE, tokensPerSecond: 10 } },
  }),
  scribe: worksOnFiles({
    answer: "42.",
    last: [["write_file", { path: "/contexts/handbook/sums.txt", content: "six times seven" }]],
  }),
};
