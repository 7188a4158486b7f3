// An authorization server (oidc-provider) and an A2A agent that wants its tokens, in one process.
//
// Prints its address as the first line. See README.md for what can be asked of it.
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

// An ES module looks for packages above itself only, so the tests say where theirs are.
const require = createRequire(`${process.env.OAUTH_TOOLS}/`);
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')));
const lifetime = Number(process.env.ACCESS_TOKEN_SECONDS ?? 3600);
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const client = (id, more) => ({
  client_id: id,
  application_type: 'native',
  redirect_uris: ['http://localhost/oauth/callback'],
  response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token', deviceGrant],
  ...more,
});
const program = { grant_types: ['client_credentials'], response_types: [], redirect_uris: [], application_type: 'web' };
const provider = new Provider(issuer, {
  clients: [
    client('public-client', { token_endpoint_auth_method: 'none' }),
    client('secret-client', { client_secret: 's3cret of the client', token_endpoint_auth_method: 'client_secret_post' }),
    client('basic-client', { client_secret: 's3cret of the client', token_endpoint_auth_method: 'client_secret_basic' }),
    client('program', { ...program, client_secret: 's3cret of the client', token_endpoint_auth_method: 'client_secret_post' }),
  ],
  scopes: ['openid', 'offline_access', 'ask', 'refuse'],
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
  ttl: { AccessToken: lifetime, ClientCredentials: lifetime, RefreshToken: 86400, DeviceCode: 600, Grant: 86400, Session: 86400, Interaction: 600 },
  features: {
    devInteractions: { enabled: false },
    deviceFlow: { enabled: true },
    clientCredentials: { enabled: true },
    userinfo: { enabled: false },
  },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ['only for tests'] },
  renderError: (ctx, out) => { ctx.type = 'json'; ctx.body = out; },
});

const issued = { access: [], refresh: [] };
const grants = [];
for (const name of ['access_token', 'client_credentials']) {
  provider.on(`${name}.saved`, (token) => issued.access.push(token));
}
provider.on('refresh_token.saved', (token) => issued.refresh.push(token));
provider.on('grant.success', (ctx) => grants.push(ctx.oidc.params.grant_type));
provider.on('grant.error', (ctx, error) => grants.push(`${ctx.oidc?.params?.grant_type} ${error.error}`));

// A person who signs in as soon as they are asked; with the scope `refuse`, they refuse.
async function interact(request, response) {
  const { params, prompt, grantId } = await provider.interactionDetails(request, response);
  if (String(params.scope).includes('refuse')) {
    const result = { error: 'access_denied', error_description: 'the person refused' };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'erika' } });
  }
  const known = grantId && (await provider.Grant.find(grantId));
  const grant = known || new provider.Grant({ accountId: 'erika', clientId: params.client_id });
  if (params.scope) grant.addOIDCScope(params.scope);
  const result = { consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

function card() {
  const flow = { tokenUrl: `${issuer}/token`, scopes: { ask: 'Ask the agent', offline_access: 'Stay signed in' } };
  return {
    name: 'agent', description: 'Wants a token', version: '1', protocolVersion: '0.3.0', url: `${issuer}/rpc`,
    capabilities: {}, skills: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    securitySchemes: {
      oauth: {
        type: 'oauth2',
        flows: { authorizationCode: { ...flow, authorizationUrl: `${issuer}/auth` }, clientCredentials: { ...flow, scopes: {} } },
        oauth2MetadataUrl: `${issuer}/.well-known/openid-configuration`,
      },
    },
    security: [{ oauth: [] }],
  };
}

const send = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

// The agent answers with the name of the caller.
async function agent(request, response) {
  const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  const found = token && ((await provider.AccessToken.find(token)) || (await provider.ClientCredentials.find(token)));
  if (!found || !found.isValid) return send(response, 401, { error: { code: -32000, message: 'a token is missing or wrong' } });
  let text = '';
  for await (const chunk of request) text += chunk;
  const { id } = JSON.parse(text);
  const parts = [{ kind: 'text', text: `hello ${found.accountId ?? found.clientId}` }];
  const result = { kind: 'message', messageId: 'm', role: 'agent', parts };
  return send(response, 200, { jsonrpc: '2.0', id, result });
}

const destroy = async (tokens) => {
  for (const token of tokens.splice(0)) await token.destroy();
};

const routes = provider.callback();
server.on('request', async (request, response) => {
  try {
    const { pathname } = new URL(request.url, issuer);
    if (pathname.startsWith('/interaction/')) return await interact(request, response);
    if (pathname === '/.well-known/agent-card.json') return send(response, 200, card());
    if (pathname === '/rpc') return await agent(request, response);
    if (pathname === '/test/revoke-access') { await destroy(issued.access); return send(response, 200, {}); }
    if (pathname === '/test/revoke-refresh') { await destroy(issued.refresh); return send(response, 200, {}); }
    if (pathname === '/test/grants') return send(response, 200, grants);
    return routes(request, response);
  } catch (error) {
    return send(response, 500, { error: String(error) });
  }
});
process.stdin.on('end', () => process.exit(0)).resume();
console.log(issuer);
