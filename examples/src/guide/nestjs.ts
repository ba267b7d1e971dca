// A NestJS application of which one process leads. Code of docs/guide/nestjs.md.
//
//     ZOOKEEPER=host:port,host:port node examples/dist/guide/nestjs.js

// #region module
import { Injectable, Module, type OnApplicationBootstrap } from '@nestjs/common'
import type { OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { connect, LeaderElection, ZooKeeper } from '@zk/recipes'

/** Connects before the application starts, and closes when it has stopped. */
@Module({
  providers: [{ provide: ZooKeeper, useFactory: () => connect(process.env['ZOOKEEPER'] ?? 'localhost:2181') }],
  exports: [ZooKeeper],
})
class ZooKeeperModule implements OnApplicationShutdown {
  constructor(private readonly zk: ZooKeeper) {}

  async onApplicationShutdown(): Promise<void> {
    await this.zk.close()
  }
}

/** Works in one process at a time. */
@Injectable()
class Leader implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController()
  private leading = Promise.resolve()

  constructor(private readonly zk: ZooKeeper) {}

  onApplicationBootstrap(): void {
    this.leading = this.lead(this.stopping.signal) // an error of the work ends the process
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort()
    await this.leading // it has resigned
  }

  private async lead(signal: AbortSignal): Promise<void> {
    for await (const held of new LeaderElection(this.zk, '/leader').terms({ signal })) {
      await workUntil(AbortSignal.any([held.signal, signal]))
    }
  }
}

@Module({ imports: [ZooKeeperModule], providers: [Leader] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule)
app.enableShutdownHooks() // SIGTERM calls the hooks
// #endregion

/** Stands for the work of a leader. */
async function workUntil(signal: AbortSignal): Promise<void> {
  console.log('leads')
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  console.log('stops')
}
