import { OPENAI_CHAT } from "../openai-chat-wire";
import { describeBrokenArguments } from "./broken-arguments";
import { describeMutatedStreams } from "./mutated-streams";
import { CHAT_MARKS } from "./oracle";
import { describeSilence } from "./silence";

describeMutatedStreams({ wire: OPENAI_CHAT, marks: CHAT_MARKS });
describeBrokenArguments(OPENAI_CHAT);
describeSilence(OPENAI_CHAT);
