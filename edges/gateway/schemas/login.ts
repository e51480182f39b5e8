// How to log in here: the metadata of a protected resource (RFC 9728), with what our own programs need besides.
import { z } from "zod";
import { timeText } from "./fields.ts";

export const loginConfigurationAnswer = z.object({
  resource: z.string().meta({ description: "This API, as tokens and metadata name it." }),
  authorization_servers: z.array(z.string()).min(1).meta({ description: "The issuers whose tokens are accepted." }),
  bearer_methods_supported: z.array(z.enum(["header"])),
  scopes_supported: z.array(z.string()),
  client_id: z.string().meta({ description: "The public client that the command line logs in as." }),
  web_client_id: z.string().meta({ description: "The public client that the web desks log in as." }),
  audience: z.string().meta({ description: "Whom a token must be meant for." }),
  scopes: z.string().meta({ description: "The scopes to ask for, separated by spaces." }),
  development_login: z.boolean().meta({ description: "Whether the development operators exist here." }),
  time: timeText,
});
