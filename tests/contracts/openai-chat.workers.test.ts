import { OPENAI_CHAT } from "./openai-chat-wire";
import { describeWorkerdContract } from "./workerd-contract";

describeWorkerdContract(OPENAI_CHAT);
