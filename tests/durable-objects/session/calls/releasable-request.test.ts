import { expect, it } from "vitest";
import { releasableRequest } from "../../../../durable-objects/session/calls/call-requests";
import type { Message } from "../../../../src/providers/provider";
import { REQUEST } from "../../../contracts/contract-support";

const said = (text: string): Message[] => [{ role: "user", text }];

it("returns its original conversation until the conversation is released; then a newly built one each time", () => {
  let times = 0;
  const { request, release } = releasableRequest({ ...REQUEST, messages: said("first") }, () => {
    times += 1;
    return said(`again ${times}`);
  });
  expect(request).toEqual({ ...REQUEST, messages: said("first") });
  release();
  expect(request.messages).toEqual(said("again 1"));
  expect({ ...request }).toEqual({ ...REQUEST, messages: said("again 2") });
});
