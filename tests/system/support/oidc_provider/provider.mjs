// A real provider of OpenID Connect (npm oidc-provider) on loopback, with three people and a public client:
//   node provider.mjs FOLDER_OF_NODE_MODULES PORT REDIRECT_URI
// Any password is right. People: anna and emil, in the group /hpc; ida, in /guests; otto, in none.
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [folder, port, redirect] = process.argv.slice(2);
const {default: Provider} = await import(pathToFileURL(createRequire(folder + "/").resolve("oidc-provider")));
const issuer = `http://127.0.0.1:${port}`;
const people = {anna: {name: "Anna Müller", groups: ["/hpc"]}, emil: {name: "Emil Nolde", groups: ["/hpc"]}, otto: {name: "Otto Maier", groups: []},
                ida: {name: "Ida Lund", groups: ["/guests"]}};
const provider = new Provider(issuer, {
  clients: [{client_id: "wheelyard", token_endpoint_auth_method: "none", application_type: "native", redirect_uris: [redirect],
             response_types: ["code"], grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
             id_token_signed_response_alg: "RS256"}],
  pkce: {required: () => true},
  features: {deviceFlow: {enabled: true}},
  claims: {openid: ["sub", "groups"], profile: ["name"]},
  conformIdTokenClaims: false,
  findAccount: (_, id) => people[id] && {accountId: id, claims: () => ({sub: id, ...people[id]})},
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
