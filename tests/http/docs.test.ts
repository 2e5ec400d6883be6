import { expect } from 'chai';
import { ERRORS, ISSUES } from '#src/adapters/inbound/http/core/error-codes.js';
import { OAUTH_ERRORS } from '#src/adapters/inbound/http/oauth/oauth-errors.js';
import { inProcessService } from '../support/in-process-service.js';
import { pageContract } from './page.contract.js';

describe('the interactive reference', () => {
  const service = inProcessService();
  const files = ['/docs/main.js', '/docs/base.css', '/docs/docs.css', '/docs/errors.json'];
  pageContract(service, { page: '/docs', files });

  it('leads those who edit products on to the console', async () => {
    const { text } = await service.get('/docs', { headers: { Accept: 'text/html' } });
    expect(text).to.include('<a href="console">Edit products in the console</a>');
  });

  it('explains every error code, from the tables that the service itself uses', async () => {
    const { json } = await service.get('/docs/errors.json');
    const codes = (entries: { code: string }[]) => entries.map(({ code }) => code);
    expect(codes(json.responses)).to.deep.equal(Object.keys(ERRORS));
    expect(codes(json.details)).to.deep.equal(Object.keys(ISSUES));
    expect(codes(json.oauth)).to.deep.equal(Object.keys(OAUTH_ERRORS));
    const notFound = json.responses.find(({ code }: { code: string }) => code === 'not_found');
    expect(notFound).to.deep.include({ status: 404, reason: 'Not Found', ...textsOf(ERRORS.not_found) });
    expect((await service.get('/v1/unknown')).json).to.have.all.keys(notFound.example);
  });
});

const textsOf = ({ cause, remedy }: { cause: string; remedy: string }) => ({ cause, remedy });
