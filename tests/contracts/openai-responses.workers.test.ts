import { expect, it } from "vitest";
import { hostById } from "../../src/providers/hosts";
import { endpointAt } from "../fakes/endpoint";
import { FULL } from "./contract-support";
import { OPENAI_RESPONSES } from "./openai-responses-wire";
import { abortedAfterFirst, describeWorkerdContract, openBody } from "./workerd-contract";

describeWorkerdContract(OPENAI_RESPONSES);

it("an aborted background reply is cancelled in workerd, too", async () => {
  const { body, cancelled } = openBody(OPENAI_RESPONSES.encode(FULL).slice(0, 4));
  const stopped = Promise.withResolvers<string>();
  const answer: typeof fetch = async (input) => {
    if (!String(input).endsWith("/cancel"))
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    stopped.resolve(String(input));
    return Response.json({ id: "resp_1", status: "cancelled" });
  };
  const endpoint = endpointAt("https://provider.test/v1", {
    fetch: answer,
    background: true,
    host: hostById("openai"),
  });
  expect(await abortedAfterFirst(OPENAI_RESPONSES.create(endpoint))).toBe(true);
  await cancelled;
  expect(await stopped.promise).toBe("https://provider.test/v1/responses/resp_1/cancel");
});
