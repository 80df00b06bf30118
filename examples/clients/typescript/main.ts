/** Signs in, lists the pipelines and creates one, with the types that openapi-typescript generates in `api.d.ts`. */
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const { FIRSTHAND_URL: baseUrl = 'http://localhost:8080', FIRSTHAND_EMAIL: email = '', FIRSTHAND_PASSWORD: password = '' } = process.env;

const client = createClient<paths>({ baseUrl });
const login = await client.POST('/v1/admin/auth/login', { body: { email, password } });
if (login.error) throw new Error(login.error.error.message);
const { access_token } = login.data;
client.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${access_token}`);
    return request;
  },
});

const list = await client.GET('/v1/admin/pipelines');
if (list.error) throw new Error(list.error.error.message);
const created = await client.POST('/v1/admin/pipelines', { body: { name: 'Made with TypeScript', type: 'web' } });
if (created.error) throw new Error(created.error.error.message);
console.log(`${list.data.total} pipelines; created ${created.data.name} (${created.data.pipeline_key})`);
