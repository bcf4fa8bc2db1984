import { expect, it } from "vitest";
import { SESSION } from "../../protocol/builders";
import { secondTurn, startConversation, turnsPath } from "./terminal-user";

const CONTEXTS = [{ name: "site", permission: "write" as const }];

it("the folders of --with are given to no other session, and to the next new one", async () => {
  await using stage = await startConversation(
    { answers: { [turnsPath]: secondTurn } },
    {
      limits: { contexts: CONTEXTS },
      folders: [{ typed: "./site", name: "site", permission: "write" }],
    },
  );
  const lines = [`/attach ${SESSION}`, "and then?", "/new", "why?", "/quit"];
  for (const [nth, line] of lines.entries()) await stage.user.typeAtPrompt(`${line}\r`, nth + 1);
  await stage.user.exitCode();
  const posts = stage.service.requests.filter(({ method }) => method === "POST");
  expect(posts.map(({ body }) => JSON.parse(body))).toEqual([
    { question: "and then?", on_busy: "queue" },
    { question: "why?", config: "demo", contexts: CONTEXTS },
  ]);
  expect(stage.user.screenText).toContain("This session keeps its own contexts.");
});
