import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';
import { docsPages, documentedOperations } from './docs-page.js';

describe('the filters on the page at /docs', () => {
  const service = inProcessService();
  const open = docsPages(service);
  it('and its fields are together the parameters of the document, for every operation', async () => {
    const docs = await open();
    const { json: document } = await service.client.get('/openapi.json');
    for (const { id, parameters } of documentedOperations(document)) {
      const { element } = await docs.operation(id);
      for (const fold of await element.locator('form details').all()) {
        await fold.locator('summary').click();
        await fold.locator('.field').first().waitFor();
      }
      const fields = await element.locator('form .field label code').allTextContents();
      const add = element.getByRole('button', { name: 'Add filter' });
      const filters: string[] = [];
      if ((await add.count()) > 0) {
        await add.click();
        const row = element.getByRole('group', { name: 'Filter', exact: true });
        filters.push(
          ...(await row.evaluate((view) => {
            const [field, operator] = view.querySelectorAll('select');
            const choose = (select: HTMLSelectElement | undefined, index: number) => {
              if (select) select.selectedIndex = index;
              select?.dispatchEvent(new Event('input', { bubbles: true }));
            };
            return [...(field?.options ?? [])].flatMap((option, at) => {
              choose(field, at);
              return [...(operator?.options ?? [])].map((_, index) => {
                choose(operator, index);
                const value = view.querySelector<HTMLInputElement>('.filter-value input, .filter-value select');
                if (value instanceof HTMLSelectElement) value.selectedIndex = 1;
                else if (value) value.value = '1';
                value?.dispatchEvent(new Event('input', { bubbles: true }));
                const code = view.closest('.sides')?.querySelector('pre.code')?.textContent ?? '';
                const [, encoded = ''] = /\?([^=]+)=/.exec(code) ?? [];
                const name = decodeURIComponent(encoded);
                return option.text.endsWith('*') ? name.replace(/\[\]\.\w+$|\.$/, '') : name;
              });
            });
          })),
        );
      }
      // The operators of a key are no parameters of their own.
      expect([...new Set(fields.concat(filters))], id).to.have.members([...parameters]);
      if (/^list(?!\w+(Changes|Deliveries)$)/.test(id)) expect(filters.length, id).to.be.greaterThan(10);
    }
    expect(docs.errors).to.deep.equal([]);
  });

  it('select records, together with sort, fields and limit', async () => {
    const lamp = (amount: number, colour: string) => ({
      name: `Lamp ${amount}`,
      price: { amount, currency: 'EUR' },
      attributes: { 'shade.colour': colour },
    });
    for (const [amount, colour] of [
      [100, 'green'],
      [200, 'green'],
      [300, 'green'],
      [400, 'red'],
    ] as const)
      await service.client.post('/v1/products', lamp(amount, colour));
    const docs = await open();
    await docs.pasteKey();
    const shown = await docs.operation('listProducts');
    await shown.addFilter('price.amount', 'gte', '200');
    await shown.addFilter('name', 'in', 'Lamp 200,Lamp 300,Lamp 400');
    const row = await shown.addFilter('attributes.*', undefined, 'green');
    await row.getByLabel('Key').fill('shade.colour');
    await shown.fill('sort', '-name');
    await shown.fill('fields', 'id,name');
    await shown.fill('limit', '1');
    await shown.send();
    expect(await shown.status()).to.equal('200');
    expect(JSON.parse(await shown.body()).map(({ name }: { name: string }) => name)).to.deep.equal(['Lamp 300']);
    expect(await shown.headers()).to.match(/rel="next"/);
  });

  it('compare an attribute whose key the person writes, also to count by value', async () => {
    for (const watts of [5, 7.5, 10])
      await service.client.post('/v1/products', {
        name: 'Bulb',
        brand: `B${watts}`,
        attributes: { 'a]b': watts },
      });
    const docs = await open();
    await docs.pasteKey();
    const shown = await docs.operation('listProductFacets');
    const row = await shown.addFilter('attributes.*', 'gt', '5');
    await row.getByLabel('Key').fill('a]b');
    await row.getByLabel('Operator').selectOption('exists');
    expect(await row.getByLabel('Value').locator('option').allTextContents()).to.deep.equal(['—', 'true', 'false']);
    await row.getByLabel('Operator').selectOption('lte');
    await row.getByLabel('Value').fill('7.5');
    await shown.fill('fields', 'brand,attributes[a]b]');
    await shown.send();
    expect(await shown.status()).to.equal('200');
    const facets = JSON.parse(await shown.body());
    expect(
      facets.map(({ values }: { values: { value: unknown }[] }) => values.map(({ value }) => value)),
    ).to.deep.equal([
      ['B5', 'B7.5'],
      [5, 7.5],
    ]);
  });

  it('are added and removed without losing the focus', async () => {
    const docs = await open();
    const shown = await docs.operation('listProducts');
    const rows = shown.element.getByRole('group', { name: 'Filter', exact: true });
    const first = await shown.addFilter('name', 'prefix', 'a');
    await shown.addFilter('sku', 'ne', 'b');
    expect(await rows.count()).to.equal(2);
    const isFocused = (label: string) =>
      rows
        .first()
        .getByLabel(label)
        .evaluate((one) => one === document.activeElement);
    await first.getByRole('button', { name: 'Remove this filter' }).click();
    expect(await rows.count()).to.equal(1);
    expect(await isFocused('Field')).to.equal(true);
    expect(await shown.code()).to.match(/\?sku[.:]ne=b'$/);
    await rows.first().getByRole('button', { name: 'Remove this filter' }).click();
    expect(await docs.focused.textContent()).to.equal('Add filter');
    await docs.page.keyboard.press('Enter');
    expect(await isFocused('Field')).to.equal(true);
  });

  it('keep the value when the operator changes, and offer the values of the document', async () => {
    const docs = await open();
    const shown = await docs.operation('listProducts');
    const row = await shown.addFilter('price.amount', 'gte', '5');
    await row.getByLabel('Operator').selectOption('lt');
    expect(await row.getByLabel('Value').inputValue()).to.equal('5');
    await row.getByText('less than this').waitFor();
    await row.getByLabel('Field').selectOption('name');
    expect(await row.getByLabel('Value').inputValue()).to.equal('');
    expect(await row.getByLabel('Operator').inputValue()).to.equal('equals');
  });
});
