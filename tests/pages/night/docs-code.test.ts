import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { type DocsPage, docsPages, type OperationPart } from '../docs-page.js';
import { runCode } from '../run-code.js';

const LANGUAGES = ['curl', 'JavaScript', 'Python', 'Go'];
const NAME = `it's "quoted" \`id\` $HOME \${x} $(id) %s \\ \\u0041 ''' """ é 😀`;
const DESCRIPTION = `${NAME}\n\tsecond line; // # */`;

describe('the code on the page at /docs', () => {
  const service = inProcessService();
  const open = docsPages(service);
  const folder = temporaryFolder();
  const permissions = ['clipboard-read', 'clipboard-write'];
  let docs: DocsPage;

  before(() => symlink(service.folder, join(folder, 'data')));
  beforeEach(async () => {
    docs = await open({ permissions });
  });

  /** Copies the code with the button, and runs the copy. */
  const copyAndRun = async (shown: OperationPart, language: string) => {
    await shown.element.getByLabel(language, { exact: true }).check();
    await shown.element.getByRole('button', { name: 'Copy' }).click();
    await shown.element.getByText('Copied.').waitFor();
    const code = await docs.page.evaluate(() => navigator.clipboard.readText());
    expect(code).to.not.include(FIRST_KEY);
    return runCode(language, code, folder, FIRST_KEY);
  };
  const product = async (fields: object) => (await service.client.post('/v1/products', fields)).json;

  for (const language of LANGUAGES)
    describe(`in ${language}, copied and run`, () => {
      it('lists with filters', async () => {
        const key = `${language} & "key" $x`;
        const fields = {
          name: NAME,
          price: { amount: 1999, currency: 'EUR' },
          attributes: { [key]: 'a=b&c' },
        };
        const { id } = await product(fields);
        await product({ ...fields, price: { amount: 1, currency: 'EUR' } });
        const shown = await docs.operation('listProducts');
        await shown.addFilter('price.amount', 'gte', '1999');
        await shown.addFilter('name', 'prefix', NAME.slice(0, 20));
        const row = await shown.addFilter('attributes.*', undefined, 'a=b&c');
        await row.getByLabel('Key').fill(key);
        await shown.fill('fields', 'id,name');
        await shown.fill('sort', '-name,id');
        expect(await copyAndRun(shown, language)).to.deep.equal({
          status: 200,
          body: JSON.stringify([{ id, name: NAME }]),
        });
      });

      it('creates from a body with quotation marks, line breaks and other scripts', async () => {
        const shown = await docs.operation('createProduct');
        const sent = { name: NAME, description: DESCRIPTION };
        for (const indent of [2, undefined]) {
          await shown.fillBody(JSON.stringify(sent, undefined, indent));
          const { status, body } = await copyAndRun(shown, language);
          expect(status).to.equal(201);
          const { id } = JSON.parse(body);
          expect((await service.client.get(`/v1/products/${id}`)).json).to.deep.equal({ id, ...sent });
        }
      });

      it('changes a record under a condition', async () => {
        const { id } = await product({ name: 'Lamp' });
        const shown = await docs.operation('patchProduct');
        await shown.fill('id', String(id));
        await shown.fill('If-Match', '"1"');
        await shown.fillBody(JSON.stringify({ description: DESCRIPTION }));
        const changed = { id, name: 'Lamp', description: DESCRIPTION };
        expect(await copyAndRun(shown, language)).to.deep.equal({
          status: 200,
          body: JSON.stringify(changed),
        });
        await shown.fillBody(JSON.stringify({ description: 'late' }));
        const { status, body } = await copyAndRun(shown, language);
        expect([status, JSON.parse(body).code]).to.deep.equal([412, 'precondition_failed']);
        expect((await service.client.get(`/v1/products/${id}`)).json).to.deep.equal(changed);
      });

      it('deletes', async () => {
        const { id } = await product({ name: 'Lamp' });
        const shown = await docs.operation('deleteProduct');
        await shown.fill('id', String(id));
        expect(await copyAndRun(shown, language)).to.deep.equal({ status: 204, body: '' });
        expect((await service.client.get(`/v1/products/${id}`)).status).to.equal(404);
      });

      it('sends no key to a public operation', async () => {
        const shown = await docs.operation('createToken');
        expect(await shown.code()).to.not.include('Bearer');
        // The key of the example is that of nobody.
        expect((await copyAndRun(shown, language)).status).to.equal(401);
      });
    });

  it('follows the form', async () => {
    const shown = await docs.operation('listProducts');
    expect(await shown.code()).to.match(/^curl /);
    const row = await shown.addFilter('name', 'prefix', 'Lamp');
    expect(await shown.code()).to.match(/name[.:]prefix=Lamp'$/);
    await row.getByRole('button', { name: 'Remove this filter' }).click();
    expect(await shown.code()).to.match(/\/v1\/products'$/);
    await shown.fill('limit', '5');
    expect(await shown.code()).to.match(/\/v1\/products\?limit=5'$/);
    const creating = await docs.operation('createUser');
    await creating.fillBody('{"name":"Ann"}');
    expect(await creating.code()).to.include(`--data-raw '{"name":"Ann"}'`);
  });

  it('is in the language that the person chose, everywhere and after a reload', async () => {
    const shown = await docs.operation('listProducts');
    await shown.element.getByLabel('Go', { exact: true }).check();
    expect(await (await docs.operation('listUsers')).code()).to.match(/^package main\n/);
    await shown.element.getByLabel('Python').check();
    expect(await (await docs.operation('listUsers')).code()).to.match(/^import os\n/);
    await docs.page.reload();
    expect(await (await docs.operation('listOrders')).code()).to.match(/^import os\n/);
  });

  it('is selected if the browser does not allow copying', async () => {
    const blocked = await open({
      prepare: (page) =>
        page.addInitScript(() => {
          Object.defineProperty(navigator, 'clipboard', { value: undefined });
        }),
    });
    const shown = await blocked.operation('listProducts');
    await shown.element.getByRole('button', { name: 'Copy' }).click();
    await shown.element.getByText('The text is selected').waitFor();
    expect(await blocked.page.evaluate(() => `${getSelection()}`)).to.match(/^curl --include /);
  });
});
