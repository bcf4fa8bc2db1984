import { expect, it } from "vitest";
import { releasableRequest } from "../../../../durable-objects/session/calls/call-requests";
import type { Message } from "../../../../src/providers/provider";
import { REQUEST } from "../../../contracts/contract-support";

const messagesOf = (text: string): Message[] => [{ role: "user", text }];

it("a released request builds its conversation again for each read", () => {
  let builds = 0;
  const { request, release } = releasableRequest(
    { ...REQUEST, messages: messagesOf("first") },
    () => {
      builds += 1;
      return messagesOf(`again ${builds}`);
    },
  );
  expect(request).toEqual({ ...REQUEST, messages: messagesOf("first") });
  release();
  expect(request.messages).toEqual(messagesOf("again 1"));
  expect({ ...request }).toEqual({ ...REQUEST, messages: messagesOf("again 2") });
});
