import 'reflect-metadata';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory,
  container as root,
} from 'tsyringe';

export type { DependencyContainer };

/** Returns a container of one program. A process may compose several, as tests do. */
export function createContainer(): DependencyContainer {
  return root.createChildContainer();
}

/** Registers a part that is created once, when it is first resolved. */
export function register<Part>(
  container: DependencyContainer,
  token: InjectionToken<Part>,
  make: (c: DependencyContainer) => NoInfer<Part>,
): void {
  container.register<Part>(token, { useFactory: instanceCachingFactory<Part>(make) });
}
