import { describe, expect, it } from "vitest";
import { OTHER_TOOLS } from "../../../cli/commands/other-tools";
import { COMMANDS, refuseLikelyCommand } from "../../../cli/commands/likely-commands";
import { commandLine } from "../../../cli/program";
import { ioWithoutUser } from "./terminal";

describe("words that are unlikely to be a question", () => {
  it.each([
    { words: ["sesions"], expected: "Did you mean npm run ask -- sessions?" },
    { words: ["Doctr"], expected: "Did you mean npm run ask -- doctor?" },
    { words: ["key"], expected: "Did you mean npm run ask -- keys?" },
    { words: ["show"], expected: "Options come after the command: npm run ask -- show" },
    {
      words: ["show", "session_01jd"],
      expected: "Options come after the command: npm run ask -- show",
    },
    { words: ["lst"], expected: "There is no command lst. Did you mean npm run ask -- sessions?" },
    { words: ["ls"], expected: 'To ask it as a question: npm run ask -- ask "ls"' },
    {
      words: ["Resume"],
      expected: 'There is no command Resume. Did you mean npm run ask -- ask --session last "…"?',
    },
    {
      words: ["resume", "session_01m7y9056benq60tp4hq1b3dey"],
      expected: 'Did you mean npm run ask -- ask --session last "…"?',
    },
    {
      words: ["cat", "last", "site/index.html"],
      expected: "Did you mean npm run ask -- files cat <session> <file>?",
    },
    {
      words: ["cat", "session_01m7y9056benq60tp4hq1b3dey", "README.md"],
      expected: "Did you mean npm run ask -- files cat <session> <file>?",
    },
    {
      words: ["fork", "last", "2"],
      expected: 'Did you mean npm run ask -- branch <turn> "…"?',
    },
    {
      words: ["completion", "bash"],
      expected: "There is no command completion. Did you mean npm run ask -- --help?",
    },
    {
      words: ["serve"],
      expected:
        "The service starts with `npm start` in its folder. To check the service: npm run ask -- doctor.",
    },
  ])("$words are refused with: $expected (A7)", ({ words, expected }) => {
    expect(() => refuseLikelyCommand(words)).toThrow(expected);
  });

  const FREQUENT_WORDS =
    "resume continue list ls history completion update version share export download cat run serve".split(
      " ",
    );
  it.each(FREQUENT_WORDS)("%s is a command of other tools and no question (A7)", (word) => {
    expect(() => refuseLikelyCommand([word])).toThrow(/There is no command .*npm run ask -- ask "/);
  });

  const FURTHER_WORDS =
    "context audit events review plan memory search find quota budget release pr issue rebase switch restart " +
    "retry replay compare save load docs api tasks jobs metrics dashboard";
  it.each(FURTHER_WORDS.split(" "))("%s is a further command of other tools (A7)", (word) => {
    expect(() => refuseLikelyCommand([word])).toThrow(/There is no command .*npm run ask -- ask "/);
  });

  it.each(["/status", "/Retry", "/q"])("%s works only in a conversation (A7)", (word) => {
    expect(() => refuseLikelyCommand([word])).toThrow(
      `${word} works only in a conversation. Start a conversation: npm run ask --`,
    );
  });

  it.each([
    { words: [] },
    { words: ["/etc/hosts"] },
    { words: ["/unknown"] },
    { words: ["/status", "codes", "of", "HTTP"] },
    { words: ["-"] },
    { words: ["why?"] },
    { words: ["Fibonacci"] },
    { words: ["history?"] },
    { words: ["why", "keys?"] },
    { words: ["what is a session?"] },
    { words: ["showcase of what?"] },
    { words: ["log out"] },
    { words: ["list", "primes"] },
    { words: ["resume", "x"] },
    { words: ["run", "bash", "safely"] },
    { words: ["delete", "old", "files"] },
    { words: ["show", "me", "primes"] },
    { words: ["show", "last", "commits"] },
  ])("$words are accepted as a question", ({ words }) => {
    expect(() => refuseLikelyCommand(words)).not.toThrow();
  });

  it("suggest only commands of this program, and are no commands themselves", () => {
    const program = commandLine({ io: ioWithoutUser(), end: () => undefined });
    const paths = program.commands.flatMap((command) => [
      command.name(),
      ...command.commands.map((subcommand) => `${command.name()} ${subcommand.name()}`),
    ]);
    const known = [...paths, "--help", "--version"];
    const suggestions = [...OTHER_TOOLS.values()].map(({ command }) =>
      command.replace(/ ["<].*$| --session.*$/, ""),
    );
    expect(suggestions.length).toBeGreaterThan(100);
    expect(suggestions.filter((command) => !known.includes(command))).toEqual([]);
    expect(
      [...OTHER_TOOLS.keys()].filter((word) => COMMANDS.some((name) => name === word)),
    ).toEqual([]);
  });
});
