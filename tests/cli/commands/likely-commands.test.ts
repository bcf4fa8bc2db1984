import { describe, expect, it } from "vitest";
import { OTHER_TOOLS } from "../../../cli/commands/other-tools";
import { COMMANDS, refuseLikelyCommand } from "../../../cli/commands/likely-commands";
import { commandLine } from "../../../cli/program";
import { nobody } from "./terminal";

describe("words that are unlikely to be a question", () => {
  it.each([
    { words: ["sesions"], says: "Did you mean npm run ask -- sessions?" },
    { words: ["Doctr"], says: "Did you mean npm run ask -- doctor?" },
    { words: ["key"], says: "Did you mean npm run ask -- keys?" },
    { words: ["show"], says: "Options come after the command: npm run ask -- show" },
    {
      words: ["show", "session_01jd"],
      says: "Options come after the command: npm run ask -- show",
    },
    { words: ["lst"], says: "There is no command lst. Did you mean npm run ask -- sessions?" },
    { words: ["ls"], says: 'To ask it as a question: npm run ask -- ask "ls"' },
    {
      words: ["Resume"],
      says: "There is no command Resume. Did you mean npm run ask -- attach <session>?",
    },
    {
      words: ["resume", "session_01m7y9056benq60tp4hq1b3dey"],
      says: "Did you mean npm run ask -- attach <session>?",
    },
    {
      words: ["completion", "bash"],
      says: "There is no command completion. Did you mean npm run ask -- --help?",
    },
    {
      words: ["serve"],
      says: "The service starts with `npm start` in its folder. To check the service: npm run ask -- doctor.",
    },
  ])("$words are refused: $says (A7)", ({ words, says }) => {
    expect(() => refuseLikelyCommand(words)).toThrow(says);
  });

  const issue =
    "resume continue list ls history completion update version diff share export files run serve".split(
      " ",
    );
  it.each(issue)("%s, a command of other tools, is never a question by itself (A7)", (word) => {
    expect(() => refuseLikelyCommand([word])).toThrow(/There is no command .*npm run ask -- ask "/);
  });

  const more =
    "context contexts audit events turns review plan compact memory search find quota budget release pr issue rebase switch restart " +
    "retry replay compare save load docs api tasks jobs metrics dashboard";
  it.each(more.split(" "))("%s is not a question either (A7)", (word) => {
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
  ])("$words may be asked", ({ words }) => {
    expect(() => refuseLikelyCommand(words)).not.toThrow();
  });

  it("each refusal names a command of this program, and the word itself is not a command", () => {
    const program = commandLine({ io: nobody(), end: () => undefined });
    const paths = program.commands.flatMap((command) => [
      command.name(),
      ...command.commands.map((inner) => `${command.name()} ${inner.name()}`),
    ]);
    const known = [...paths, "--help", "--version"];
    const named = [...OTHER_TOOLS.values()].map(({ command }) =>
      command.replace(/ ["<].*$| --session.*$/, ""),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((command) => !known.includes(command))).toEqual([]);
    expect(
      [...OTHER_TOOLS.keys()].filter((word) => COMMANDS.some((name) => name === word)),
    ).toEqual([]);
  });
});
