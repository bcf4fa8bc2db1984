import { worksOnFiles } from "./coding";
import type { Script } from "./reply";

/** Models that work on files. The tests that run in workerd use them by name. */
export const CODING_MODELS: Readonly<Record<string, Script>> = {
  builder: worksOnFiles({
    first: [
      ["write_file", { path: "src/sum.sh", content: "echo $((6 * 7))\n" }],
      ["run_command", { command: "sh src/sum.sh && ls -R" }],
    ],
    answer: "It is 42: run src/sum.sh to see it for yourself, it multiplies six by seven.",
    beforeVote: [["run_command", { command: "grep -r echo /peers" }]],
    last: [["write_file", { path: "NOTES.md", content: "Run src/sum.sh.\n" }]],
  }),
  critic: worksOnFiles({
    first: [["write_file", { path: "src/other.txt", content: "forty-two" }]],
    answer: "42.",
    beforeVote: [["read_file", { path: "/peers/{best}/src/sum.sh" }]],
  }),
  printer: worksOnFiles({
    first: [["run_command", { command: "seq 1 3000" }]],
    answer: "It is 42: count them.",
    beforeVote: [["run_command", { command: "ls /workspace/.tool_results /peers/*" }]],
  }),
  hoarder: worksOnFiles({
    first: Array.from({ length: 2 }, (): [string, Record<string, unknown>] => [
      "run_command",
      {
        command:
          "seq 1 9000 > a && cat a a a a > b && for i in 1 2 3 4 5 6 7; do cat b >> heap; done; rm a b",
      },
    ]),
    answer: "It is 42, and all that is in the heap besides, which is more than anybody needs.",
  }),
  scholar: worksOnFiles({
    first: [
      ["look_up", {}],
      ["read_tool_result", { path: "{kept}", start_char: 199_990 }],
      ["look_up", {}],
      ["read_tool_result", { path: "../secret.txt" }],
    ],
    answer: "It is 42: I looked it up in a long book, and read it to its end.",
  }),
  reader: worksOnFiles({
    first: [["look_up", {}]],
    answer: "It is 42: I looked it up in a long book.",
  }),
  refiner: worksOnFiles({
    first: [["write_file", { path: "src/sum.sh", content: "echo $((6 * 7))\n" }]],
    answer: "It is 42.",
    improved:
      "It is 42: run src/sum.sh to see it for yourself, six rows of seven make it so, and no other number does.",
  }),
  diarist: worksOnFiles({
    first: [["run_command", { command: "echo 42 > note-$(ls | wc -l).txt" }]],
    answer: "It is 42: see the new note.",
    improved:
      "It is 42: see the new note, which says so in as many words as that takes, namely one, and no other number does.",
  }),
  novelist: worksOnFiles({
    first: [["write_file", { path: "final.txt", content: "A plan.\n" }]],
    answer: "It is 42, and there is a plan for the whole story.",
    final: { text: `It is 42. ${"A word of the story. ".repeat(13_500)}The end.` },
  }),
  waster: worksOnFiles({
    first: [
      [
        "run_command",
        { command: "if [ -f a.txt ]; then cat a.txt && rm a.txt; else echo 42 > a.txt; fi" },
      ],
    ],
    answer: "It is 42, as a.txt says, or said until it was thrown away with all that it said.",
  }),
  keeper: worksOnFiles({
    first: [["write_file", { path: "b.txt", content: "42\n" }]],
    answer: "42.",
    beforeVote: [["read_file", { path: "/peers/{best}/a.txt" }]],
  }),
  burglar: worksOnFiles({
    first: [
      ["read_file", { path: "../a1/src/other.txt" }],
      ["read_file", { path: "/peers/a1/src/other.txt" }],
      ["read_file", { path: "/etc/passwd" }],
      ["write_file", { path: "/peers/agent2/src/other.txt", content: "mine" }],
      ["run_command", { command: "cat /proc/self/environ ../../a1/* ; echo x > /peers/agent1/a" }],
    ],
    answer: "It is 42, though I was kept out everywhere.",
  }),
  reciter: worksOnFiles({
    answer: "I had it recited.",
    last: [
      ["mcp__box__recite", {}],
      ["list_directory", { path: ".tool_results" }],
    ],
  }),
  painter: worksOnFiles({
    first: [
      ["mcp__box__draw", {}],
      ["write_file", { path: "frame.txt", content: "It is framed.\n" }],
    ],
    answer: "It is 42, as the picture shows.",
    last: [
      ["mcp__box__draw", {}],
      ["mcp__box__scan", {}],
      ["mcp__box__shatter", {}],
      ["list_directory", { path: ".tool_results" }],
      ["write_file", { path: "NOTES.md", content: "It is painted.\n" }],
    ],
  }),
  admirer: worksOnFiles({
    answer: "I had it painted.",
    last: [
      ["mcp__box__draw", {}],
      ["mcp__box__shatter", {}],
    ],
  }),
  asker: worksOnFiles({
    answer: "It is 42, as far as one can tell without a tool that wants a key.",
    last: [["mcp__box__ask", {}]],
  }),
  adder: worksOnFiles({
    first: [["mcp__box__add", { a: 40, b: 2 }]],
    answer: "It is 42: I had it added up by a tool, which is surer than by heart.",
    last: [["mcp__box__add", { a: 1, b: 1 }]],
  }),
};
