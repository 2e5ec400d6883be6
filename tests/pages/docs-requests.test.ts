import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { docsPages, documentedOperations } from './docs-page.js';

const HOSTILE = `</pre><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>&lt;b&gt;`;

describe('the page at /docs, when a person tries an operation', () => {
  const service = inProcessService();
  const open = docsPages(service);

  it('sends a request with a pasted key', async () => {
    const docs = await open();
    await docs.pasteKey(`  Bearer ${FIRST_KEY}\n`);
    const creating = await docs.operation('createProduct');
    await creating.fillBody('{"name":"Lamp","price":{"amount":1999,"currency":"EUR"}}');
    await creating.send();
    expect(await creating.status()).to.equal('201');
    const { id } = JSON.parse(await creating.body());
    expect(await creating.headers()).to.include(`location: /v1/products/${id}`);
    expect((await service.client.get(`/v1/products/${id}`)).json.name).to.equal('Lamp');
    expect(docs.errors).to.deep.equal([]);
  });

  it('starts with a valid example for every operation that takes a body', async () => {
    const docs = await open();
    await docs.pasteKey();
    const { json: document } = await service.client.get('/openapi.json');
    const withBody = documentedOperations(document).filter(({ hasBody }) => hasBody);
    expect(withBody.length).to.be.greaterThan(5);
    for (const { id } of withBody) {
      const shown = await docs.operation(id);
      const type = shown.element.getByLabel('Content-Type');
      for (const option of await type.locator('option').allTextContents()) {
        await type.selectOption(option);
        await shown.send();
        await shown.element.locator('.received').waitFor();
        const body = (await shown.element.locator('.response-body').count()) > 0 ? await shown.body() : '';
        const about = `${id} ${option}: ${body}`;
        if (id === 'createWebhook') {
          // The host of the example has no address.
          const { details } = JSON.parse(body) as { details: readonly { pointer: string }[] };
          expect(
            details.map(({ pointer }) => pointer),
            about,
          ).to.deep.equal(['/url']);
          continue;
        }
        expect(body, about).to.not.match(/malformed|unknown_field|invalid_type|required|invalid_format/);
        expect(await shown.status(), about).to.match(/^(20\d|404|409|401)$/);
      }
    }
  });

  it('shows the request beside the response on a wide screen, and above it on a narrow one', async () => {
    const docs = await open({ viewport: { width: 1600, height: 900 } });
    const { element } = await docs.operation('createProduct');
    const boxes = async () =>
      Promise.all(['form', '.response'].map((part) => element.locator(part).first().boundingBox()));
    const [request, response] = await boxes();
    expect(response?.y).to.equal(request?.y);
    expect(response?.x).to.be.greaterThan((request?.x ?? 0) + (request?.width ?? 0));
    await docs.page.setViewportSize({ width: 800, height: 900 });
    const [above, below] = await boxes();
    expect(below?.x).to.equal(above?.x);
    expect(below?.y).to.be.greaterThan((above?.y ?? 0) + (above?.height ?? 0));
  });

  it('shows an error response unchanged, in colours, with a link to the explanation of its code', async () => {
    const docs = await open();
    const shown = await docs.operation('listUsers');
    await shown.send();
    expect(await shown.status()).to.equal('401');
    expect(JSON.parse(await shown.body()).code).to.equal('unauthenticated');
    expect(await shown.headers()).to.include('www-authenticate: Bearer');
    const coloured = shown.element.locator('.response-body');
    expect(await coloured.locator('.json-name').first().textContent()).to.equal('"code"');
    expect(await coloured.locator('.json-string').first().textContent()).to.equal('"unauthenticated"');
    await shown.element.getByRole('link', { name: 'unauthenticated' }).first().click();
    await docs.page.locator('[id="/errors/unauthenticated"]:focus').waitFor();
    await docs.page.goBack();
    expect(await shown.status()).to.equal('401');
  });

  it('shows HTML in a response as text', async () => {
    const { json } = await service.client.post('/products', { name: HOSTILE });
    const docs = await open();
    await docs.pasteKey();
    const shown = await docs.operation('getProduct');
    await shown.fill('id', String(json.id));
    await shown.send();
    expect(await shown.status()).to.equal('200');
    expect(JSON.parse(await shown.body()).name).to.equal(HOSTILE);
    expect(await docs.page.locator('img, .received script, .received b').count()).to.equal(0);
    expect(await docs.page.title()).to.not.equal('taken');
    expect(docs.errors).to.deep.equal([]);
  });

  it('says if there is no response', async () => {
    const docs = await open();
    await docs.pasteKey();
    const shown = await docs.operation('listUsers');
    await docs.context.setOffline(true);
    await shown.send();
    await shown.element.getByText('There was no response').waitFor();
    await docs.context.setOffline(false);
    await shown.send();
    expect(await shown.status()).to.equal('200');
    expect(await shown.element.getByText('There was no response').count()).to.equal(0);
  });

  it('cancels a slow request and returns the focus', async () => {
    const docs = await open();
    await docs.pasteKey();
    const shown = await docs.operation('listUsers');
    await docs.page.route('**/v1/users*', () => {});
    await shown.send();
    const cancel = shown.element.getByRole('button', { name: 'Cancel' });
    const again = shown.element.getByRole('button', { name: 'Send', exact: true });
    expect(await again.isVisible()).to.equal(false);
    expect(await docs.focused.textContent()).to.equal('Cancel');
    await cancel.click();
    await shown.element.getByText('Cancelled.').waitFor();
    expect(await cancel.isVisible()).to.equal(false);
    expect(await docs.focused.textContent()).to.equal('Send');
  });

  it('reads and shows only the beginning of a long response', async () => {
    const docs = await open();
    await docs.pasteKey();
    const shown = await docs.operation('listUsers');
    const long = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ id: index, name: 'Lamp' })));
    await docs.page.route('**/v1/users*', (route) => route.fulfill({ body: long, contentType: 'application/json' }));
    await shown.send();
    await shown.element.getByText('the rest was not read').waitFor();
    expect(await shown.body()).to.equal(long.slice(0, 256 * 1024));
    expect(await shown.element.locator('.response-body .json-number').count()).to.be.greaterThan(1_000);
  });
});
